"""Small messages between the training processes of one fit, and how they learn that one of them is gone.

LightGBM's network cannot be used from Python, and its processes wait for ever on one that died. Beside the boosters' own
network every process therefore keeps one connection to a hub, in the worker of rank 0. The hub hands the messages of all to
each, round by round; who closes a connection too early, by an error or by dying, makes it close all of them. Sums are added
up in the order of the ranks, so every process gets the same number to the last bit, and early stopping is one decision.
"""

import queue
import secrets
import selectors
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gapboost.queries import Array

LENGTH = struct.Struct("!I")
TOKEN_BYTES = 16
CONNECT_SECONDS = 30.0
# How soon a hub that was told to close does so.
TICK_SECONDS = 0.5
# A host that vanishes without closing its connections is found missing after 10 + 6 * 5 seconds.
KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 6}


class PeerLost(RuntimeError):
    """Another process of the same fit ended before the end."""


class HubAddress(NamedTuple):
    """Where a hub listens, and the secret that admits to it."""

    host: str
    port: int
    token: bytes


class Hub:
    """Hands the messages of `n_peers` processes to each of them, round by round, in a thread of its own."""

    def __init__(self, host: str, n_peers: int) -> None:
        self._n_peers = n_peers
        self._server = socket.create_server((host, 0), backlog=max(n_peers, 16))
        self._server.settimeout(TICK_SECONDS)
        self._closing = threading.Event()
        self.address = HubAddress(host, self._server.getsockname()[1], secrets.token_bytes(TOKEN_BYTES))
        self._thread = threading.Thread(target=self._serve, name="gapboost-hub", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close all connections: processes that are still there end."""
        self._closing.set()
        self._thread.join()

    def _serve(self) -> None:
        peers: dict[int, socket.socket] = {}
        try:
            while len(peers) < self._n_peers:
                self._admit(peers)
            with selectors.DefaultSelector() as selector:
                for rank, peer in peers.items():
                    selector.register(peer, selectors.EVENT_READ, rank)
                while True:
                    self._round(peers, selector)
        except OSError:
            pass  # a peer is gone, or the hub is to close
        finally:
            for peer in peers.values():
                peer.close()
            self._server.close()

    def _admit(self, peers: dict[int, socket.socket]) -> None:
        if self._closing.is_set():
            raise ConnectionAbortedError
        try:
            peer, _ = self._server.accept()
        except TimeoutError:
            return
        try:
            peer.settimeout(CONNECT_SECONDS)
            token, rank = _read(peer, TOKEN_BYTES), LENGTH.unpack(_read(peer, LENGTH.size))[0]
        except OSError:
            peer.close()
            return
        if not secrets.compare_digest(token, self.address.token) or rank >= self._n_peers or rank in peers:
            peer.close()
            return
        _keep_alive(peer)
        peers[rank] = peer

    def _round(self, peers: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
        messages: dict[int, bytes] = {}
        while len(messages) < self._n_peers:
            if self._closing.is_set():
                raise ConnectionAbortedError
            # Whoever is gone is readable too: nobody's turn is waited for.
            for key, _ in selector.select(TICK_SECONDS):
                messages[key.data] = _receive(peers[key.data])
        answer = b"".join(_framed(messages[rank]) for rank in range(self._n_peers))
        for peer in peers.values():
            peer.sendall(answer)


class Exchange:
    """One process's connection to the hub.

    Parameters
    ----------
    address : HubAddress
    rank, n_peers : int
    on_loss : callable
        Called in another thread when the hub closes too early: the booster may be waiting for a lost process for ever.
    """

    def __init__(self, address: HubAddress, rank: int, n_peers: int, on_loss: Callable[[], Any]) -> None:
        self._n_peers = n_peers
        self._on_loss = on_loss
        self._finished = False
        self._answers: queue.SimpleQueue[list[bytes] | None] = queue.SimpleQueue()
        self._socket = socket.create_connection(address[:2], timeout=CONNECT_SECONDS)
        _keep_alive(self._socket)
        self._socket.sendall(address.token + LENGTH.pack(rank))
        threading.Thread(target=self._listen, name="gapboost-exchange", daemon=True).start()

    def gather(self, message: bytes) -> list[bytes]:
        """The messages of all, by rank. Every process calls it the same number of times.

        Raises
        ------
        PeerLost
            Where a process is gone.
        """
        try:
            self._socket.sendall(_framed(message))
        except OSError:
            raise PeerLost("another process of the fit is gone") from None
        answer = self._answers.get()
        if answer is None:
            raise PeerLost("another process of the fit is gone")
        return answer

    def total(self, values: Array) -> Array:
        """Sums of a float64 array over the processes, of its shape; the same to the last bit for each of them."""
        own = np.ascontiguousarray(values, dtype=np.float64)
        parts = [np.frombuffer(message).reshape(own.shape) for message in self.gather(own.tobytes())]
        sums: Array = np.sum(parts, axis=0)
        return sums

    def finish(self) -> None:
        """Wait until every process is done, and leave."""
        # From here on the others may close first.
        self._finished = True
        self.gather(b"")
        self.close()

    def close(self) -> None:
        """Leave at once: whoever has not finished takes it for a loss."""
        # Closing alone would wait for the thread that reads.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _listen(self) -> None:
        try:
            while True:
                self._answers.put([_receive(self._socket) for _ in range(self._n_peers)])
        except OSError:
            self._socket.close()
            self._answers.put(None)
            if not self._finished:
                self._on_loss()


def _framed(message: bytes) -> bytes:
    return LENGTH.pack(len(message)) + message


def _receive(peer: socket.socket) -> bytes:
    return _read(peer, LENGTH.unpack(_read(peer, LENGTH.size))[0])


def _read(peer: socket.socket, n_bytes: int) -> bytes:
    received = b""
    while len(received) < n_bytes:
        more = peer.recv(n_bytes - len(received))
        if not more:
            raise ConnectionResetError("the other side closed the connection")
        received += more
    return received


def _keep_alive(peer: socket.socket) -> None:
    peer.settimeout(None)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, seconds in KEEPALIVE.items():
        if hasattr(socket, name):  # macOS lacks the first
            peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
