"""Small messages between the training processes of one fit, and signs of lost processes.

LightGBM's network cannot be used from Python, and its processes wait forever for one that died.
Every process therefore also keeps one connection to a coordinator, which runs in the worker of
rank 0. In each round every process sends one message, and the coordinator sends all of them to
every process. If a process closes its connection before the end, by an error or by dying, the
coordinator closes all connections, and the other processes end too. Every process adds messages up
in the order of the ranks and gets the same number to the last bit, so all stop in the same round.
"""

import queue
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge, wait
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array

CONNECT_SECONDS = 30.0
RANK_BYTES = 4
# A coordinator that is told to close does so within this time.
TICK_SECONDS = 0.5
# A host that vanishes without closing its connections is found missing after 10 + 6 * 5 seconds.
# TCP_KEEPALIVE is how macOS calls the first; options that a system lacks keep its defaults.
KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPALIVE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 6}


class PeerLost(RuntimeError):
    """Another process of the same fit ended before the end."""

    def __init__(self, message: str = "another process of the fit is gone") -> None:
        super().__init__(message)


class CoordinatorAddress(NamedTuple):
    """Address of a coordinator, the number of its processes, and the key that they share."""

    host: str
    port: int
    n_peers: int
    authkey: bytes


class Coordinator:
    """Sends the messages of `n_peers` processes to each, round by round, in its own thread."""

    def __init__(self, host: str, n_peers: int) -> None:
        self._server = socket.create_server((host, 0), backlog=max(n_peers, 16))
        self._server.settimeout(TICK_SECONDS)
        self._closing = threading.Event()
        self.address = CoordinatorAddress(
            host, self._server.getsockname()[1], n_peers, secrets.token_bytes()
        )
        self._thread = threading.Thread(
            target=self._serve, name="gapboost-coordinator", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Close all connections: processes that are still there end."""
        self._closing.set()
        self._thread.join()

    def _serve(self) -> None:
        peers: dict[int, Connection] = {}
        try:
            # The server closes with this block: a process that comes later is refused.
            with self._server:
                while len(peers) < self.address.n_peers:
                    self._admit(peers)
            while True:
                self._round(peers)
        except (OSError, EOFError):
            pass  # a process is gone, or the coordinator was told to close
        finally:
            for peer in peers.values():
                peer.close()

    def _admit(self, peers: dict[int, Connection]) -> None:
        self._check_open()
        try:
            accepted, _ = self._server.accept()
        except TimeoutError:
            return
        peer = _connection(accepted)
        # Otherwise a stranger that connects and says nothing would stop the coordinator for ever.
        limit = threading.Timer(CONNECT_SECONDS, _hang_up, [peer])
        limit.daemon = True
        limit.start()
        try:
            deliver_challenge(peer, self.address.authkey)
            answer_challenge(peer, self.address.authkey)
            rank = int.from_bytes(peer.recv_bytes(RANK_BYTES))
        except (OSError, EOFError, AuthenticationError):
            rank = -1
        finally:
            limit.cancel()
            # It may be hanging up just now.
            limit.join()
        if rank in range(self.address.n_peers) and rank not in peers:
            peers[rank] = peer
        else:
            peer.close()

    def _round(self, peers: dict[int, Connection]) -> None:
        messages: dict[int, bytes] = {}
        while len(messages) < len(peers):
            self._check_open()
            # This waits also for the processes that have sent their message: reading from one that
            # is gone raises.
            ready = wait(peers.values(), TICK_SECONDS)
            messages |= {rank: peer.recv_bytes() for rank, peer in peers.items() if peer in ready}
        answer = _packed([messages[rank] for rank in range(len(peers))])
        for peer in peers.values():
            peer.send_bytes(answer)

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise ConnectionAbortedError("the coordinator was told to close")


class Exchange:
    """One process's connection to the coordinator.

    Parameters
    ----------
    address : CoordinatorAddress
    rank : int
    on_loss : callable
        Called in another thread when the coordinator closes too early: the booster may be waiting
        for a lost process for ever.

    Attributes
    ----------
    rank, n_peers : int

    Raises
    ------
    PeerLost
        Where the coordinator closes before it admits this process.
    multiprocessing.AuthenticationError
        Where the key is not the coordinator's.
    OSError
        If no coordinator listens at the address.
    """

    def __init__(self, address: CoordinatorAddress, rank: int, on_loss: Callable[[], Any]) -> None:
        self.rank, self.n_peers = rank, address.n_peers
        self._on_loss = on_loss
        self._finished = False
        # The number of a connection that one thread closes may be another socket's before the other
        # thread ends it by number.
        self._closing = threading.Lock()
        self._answers: queue.SimpleQueue[list[bytes] | None] = queue.SimpleQueue()
        opened = socket.create_connection((address.host, address.port), timeout=CONNECT_SECONDS)
        self._connection = _connection(opened)
        try:
            answer_challenge(self._connection, address.authkey)
            deliver_challenge(self._connection, address.authkey)
            self._connection.send_bytes(rank.to_bytes(RANK_BYTES))
        except (OSError, EOFError):
            raise PeerLost from None
        threading.Thread(target=self._listen, name="gapboost-exchange", daemon=True).start()

    def gather(self, message: bytes) -> list[bytes]:
        """The messages of all processes, by rank. Every process calls it the same number of times.

        Raises
        ------
        PeerLost
            Where a process is gone.
        """
        try:
            self._connection.send_bytes(message)
        except OSError:
            raise PeerLost from None
        answer = self._answers.get()
        if answer is None:
            raise PeerLost
        return answer

    def total(self, values: Array) -> Array:
        """Return sums of a float64 array over the processes, equal to the last bit in each."""
        own = np.ascontiguousarray(values, dtype=np.float64)
        parts = [
            np.frombuffer(message).reshape(own.shape) for message in self.gather(own.tobytes())
        ]
        sums: Array = np.sum(parts, axis=0)
        return sums

    def finish(self) -> None:
        """Wait until every process is done, and leave."""
        # From here on the others may close first.
        self._finished = True
        self.gather(b"")
        self.close()

    def close(self) -> None:
        """Leave at once: the processes that have not finished take it for a loss."""
        with self._closing:
            _hang_up(self._connection)

    def _listen(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                self._answers.put(_unpacked(self._connection.recv_bytes(), self.n_peers))
        with self._closing:
            self._connection.close()
        self._answers.put(None)
        if not self._finished:
            self._on_loss()


def _packed(messages: list[bytes]) -> bytes:
    """Join several messages, each after its length."""
    return np.array([len(message) for message in messages], dtype=np.int64).tobytes() + b"".join(
        messages
    )


def _unpacked(packed: bytes, n_messages: int) -> list[bytes]:
    lengths = np.frombuffer(packed, dtype=np.int64, count=n_messages)
    ends = lengths.nbytes + np.cumsum(lengths)
    return [
        packed[end - length : end]
        for length, end in zip(lengths.tolist(), ends.tolist(), strict=True)
    ]


def _connection(opened: socket.socket) -> Connection:
    """Return a connection on a socket; it fails some time after the other host vanishes."""
    opened.settimeout(None)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, seconds in KEEPALIVE.items():
        if hasattr(socket, name):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
    return Connection(opened.detach())


def _hang_up(connection: Connection) -> None:
    """End a connection that no other thread may close meanwhile.

    `close` would not wake a thread that waits for a message.
    """
    with (
        suppress(OSError),
        socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as shared,
    ):
        shared.shutdown(socket.SHUT_RDWR)
