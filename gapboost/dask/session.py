"""The client's side of one fit: it waits for futures only as long as their workers live."""

import logging
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from distributed import CancelledError, Client, Future, Semaphore, get_client, wait

from gapboost.dask.exchange import PeerLost
from gapboost.dask.training import stop, watch_client

POLL_SECONDS = 1.0
# When one process fails, the others report that they lost it, perhaps before its own error arrives.
# So many polls wait for that.
GRACE_POLLS = 10

# Name of the semaphore by which fits take turns. A client asks for its turn in requests of so many
# seconds. The scheduler therefore cannot give the turn to a client that died in an earlier request.
TURN, TURN_SECONDS = "gapboost-fit", 1.0


def running_client(client: Client | None) -> Client:
    """Return the client to use.

    Raises
    ------
    ValueError
        If there is none, or it is closed or asynchronous.
    """
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "client is None and no Dask client is open; expected a distributed.Client"
            ) from None
    if client.status != "running":
        raise ValueError(f"client is {client.status}; expected one that is running")
    if client.asynchronous:
        raise ValueError("client is asynchronous; expected a synchronous one")
    return client


class Session:
    """One fit on a cluster, as a context: leaving it ends all its tasks and processes.

    Fits on one cluster take turns: two fits that each hold half of the workers would wait for each
    other for ever.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.fit = uuid.uuid4().hex
        self.threads: dict[str, int] = {}
        self._futures: list[Future] = []
        self._watching: list[Future] = []
        self._turn = Semaphore(1, TURN, scheduler_rpc=client.scheduler, loop=client.loop)

    def __enter__(self) -> Self:
        try:
            while not self._turn.acquire(timeout=TURN_SECONDS):
                pass
            self.threads = self.client.nthreads()
            self.workers = list(self.threads)
            # The fit fails when one of these workers leaves the cluster.
            self.needed: set[str] = set()
            if not self.workers:
                raise ValueError("client has no workers; expected at least one")
            # The first worker releases the turn of a client that is gone. Otherwise the lease would
            # time out.
            leases = list(self._turn._leases)
            for worker in self.workers:
                self.submit(
                    watch_client,
                    self.fit,
                    TURN,
                    leases if worker == self.workers[0] else [],
                    worker=worker,
                )
            # These are kept until the fit has been stopped: workers stop it themselves when they
            # are released.
            self._watching, self._futures = self._futures, []
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        closed = self._client_is_closed()
        # The workers of this process, also those that have left the cluster.
        stop(self.fit)
        try:
            # The workers find out by themselves that a client is closed.
            if not closed:
                self._stop_workers(failed=kind is not None)
        except Exception as problem:
            _tell(problem)
        finally:
            self._leave()
            self._futures.clear()
            self._watching.clear()
        if isinstance(error, Exception) and (closed or isinstance(error, CancelledError)):
            happened = "client was closed" if closed else "the tasks of the fit were canceled"
            raise RuntimeError(
                f"{happened} during fit: nothing was trained. Call fit once more"
            ) from error

    def _client_is_closed(self) -> bool:
        return self.client.status in ("closing", "closed")

    def _stop_workers(self, failed: bool) -> None:
        if failed:
            self.client.cancel(self._futures, force=True)
        # A worker that has left the cluster since is no error.
        alive = [worker for worker in self.client.nthreads() if worker in self.threads]
        if alive:
            self.client.run(stop, self.fit, workers=alive, on_error="ignore")

    def _leave(self) -> None:
        try:
            # A worker releases the turn of a closed client.
            if self._turn._leases and not self._client_is_closed():
                self._turn.release()
        except Exception as problem:
            _tell(problem)
        finally:
            # The semaphore has no such callback where leases are configured to last for ever.
            if hasattr(self._turn, "refresh_callback"):
                self._turn.refresh_callback.stop()

    def submit(
        self, task: Callable[..., Any], *arguments: Any, worker: str | None = None
    ) -> Future:
        """Call a function on a worker, or where Dask places the call."""
        future = self.client.submit(
            task, *arguments, workers=None if worker is None else [worker], pure=False, retries=0
        )
        self._futures.append(future)
        return future

    def compute(self, delayed: Sequence[Any], worker: str | None = None) -> list[Future]:
        """Compute partitions, if possible on a worker."""
        if not delayed:
            return []
        near = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        futures: list[Future] = self.client.compute(list(delayed), **near)
        self._futures += futures
        return futures

    def release(self, futures: Sequence[Future | None]) -> None:
        """Free the memory of futures as soon as the tasks that use them are done."""
        gone = {id(future) for future in futures}
        self._futures = [future for future in self._futures if id(future) not in gone]
        for future in futures:
            if future is not None:
                future.release()

    def results(self, given: Sequence[Future | None]) -> list[Any]:
        """The results of all futures, in order; None for None.

        Raises
        ------
        RuntimeError
            If a worker leaves the cluster in the meantime: its tasks would wait for it for ever.
        BaseException
            What a task raised.
        """
        futures = [future for future in given if future is not None]
        waiting, grace = set(futures), GRACE_POLLS
        while waiting:
            # `wait` asks the current client, even where the futures belong to another one.
            with suppress(TimeoutError), self.client.as_current():
                wait(waiting, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
            waiting = {future for future in waiting if future.status == "pending"}
            errors = [future.exception() for future in futures if future.status == "error"]
            causes = [error for error in errors if not isinstance(error, PeerLost)]
            if causes:
                raise causes[0]
            self._check_workers()
            if errors:
                grace -= 1
                if not grace or not waiting:
                    raise errors[0]
        found = iter(self.client.gather(futures))
        return [None if future is None else next(found) for future in given]

    def _check_workers(self) -> None:
        alive = set(self.client.nthreads())
        gone = sorted((self.needed if alive else set(self.workers)) - alive)
        if gone:
            raise RuntimeError(
                f"worker {', '.join(gone)} left the cluster during fit: nothing was trained. The "
                "others are free again; call fit once more"
            )


def _tell(problem: Exception) -> None:
    """Log errors after a fit, which must hide neither its result nor its own error."""
    logging.getLogger("gapboost").warning(
        "after a fit on the cluster, cleaning up failed: %r", problem
    )
