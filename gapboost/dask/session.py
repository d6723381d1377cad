"""The client's side of one fit: futures that are waited for only as long as their workers live."""

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from distributed import Client, Future, Semaphore, get_client, wait

from gapboost.dask.exchange import PeerLost
from gapboost.dask.training import stop

POLL_SECONDS = 1.0
# So long the cause of a lost connection may take to arrive after its consequences.
GRACE_POLLS = 10


def running_client(client: Client | None) -> Client:
    """The client to use.

    Raises
    ------
    ValueError
        Where there is none, it is closed, or it is asynchronous.
    """
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError("client is None and no Dask client is open; expected a distributed.Client") from None
    if client.status != "running":
        raise ValueError(f"client is {client.status}; expected one that is running")
    if client.asynchronous:
        raise ValueError("client is asynchronous; expected a synchronous one")
    return client


class Session:
    """One fit on a cluster, as a context: when it is left, nothing of it goes on, whatever happened.

    Fits on one cluster take turns: two that each hold half of the workers would wait for each other for ever.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.fit = uuid.uuid4().hex
        self._futures: list[Future] = []
        self._turn = Semaphore(1, "gapboost-fit", scheduler_rpc=client.scheduler, loop=client.loop)

    def __enter__(self) -> Self:
        self._turn.acquire()
        try:
            self.threads: dict[str, int] = self.client.nthreads()
            self.workers = list(self.threads)
            # Those that must not be lost any more.
            self.needed: set[str] = set()
            if not self.workers:
                raise ValueError("client has no workers; expected at least one")
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is not None:
                self.client.cancel(self._futures, force=True)
            alive = [worker for worker in self.client.nthreads() if worker in self.threads]
            # on_error: a worker may be gone before it is asked
            self.client.run(stop, self.fit, workers=alive, on_error="ignore")
        except (OSError, ValueError):
            if kind is None:
                raise
        finally:
            self._futures.clear()
            self._leave()

    def _leave(self) -> None:
        try:
            self._turn.release()
        finally:
            # There is none where leases are configured to last for ever.
            if hasattr(self._turn, "refresh_callback"):
                self._turn.refresh_callback.stop()

    def submit(self, task: Callable[..., Any], *arguments: Any, worker: str | None = None) -> Future:
        """A call on a worker, or wherever its inputs are."""
        future = self.client.submit(
            task, *arguments, workers=None if worker is None else [worker], pure=False, retries=0
        )
        self._futures.append(future)
        return future

    def compute(self, delayed: Sequence[Any], worker: str | None = None) -> list[Future]:
        """Partitions, near a worker."""
        if not delayed:
            return []
        near = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        futures: list[Future] = self.client.compute(list(delayed), **near)
        self._futures += futures
        return futures

    def release(self, futures: Sequence[Future]) -> None:
        """Forget futures: their memory is free when nobody waits for them."""
        gone = set(map(id, futures))
        self._futures = [future for future in self._futures if id(future) not in gone]

    def results(self, given: Sequence[Future | None]) -> list[Any]:
        """The results of all, in order, and None for None.

        Raises
        ------
        RuntimeError
            Where a worker leaves the cluster meanwhile; its tasks would wait for it for ever.
        """
        futures = [future for future in given if future is not None]
        waiting, grace = set(futures), GRACE_POLLS
        while waiting:
            # `wait` asks the current client, whoever's the futures are.
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
                f"worker {', '.join(gone)} left the cluster during fit: nothing was trained. The others are free again; "
                "call fit once more"
            )
