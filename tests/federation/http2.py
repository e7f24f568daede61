"""HTTP/2 by hand over mutual TLS: what no well-behaved library would send."""
import pathlib
import socket
import ssl
import struct
import time

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4
REFUSED, CALM = 7, 11  # errors: REFUSED_STREAM, ENHANCE_YOUR_CALM


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + payload


def error_of(payload, at=0):
    """The error code of RST_STREAM, or of GOAWAY behind the last stream (at 4)."""
    return struct.unpack_from(">I", payload, at)[0]


def literal(name, value):
    """A header that is not to be indexed (HPACK), without Huffman codes."""
    return b"\x00" + prefixed(name) + prefixed(value)


def length_of(size):
    if size < 127:
        return bytes([size])
    rest, out = size - 127, b"\x7f"
    while rest >= 128:
        out += bytes([rest % 128 + 128])
        rest //= 128
    return out + bytes([rest])


def prefixed(text):
    data = text.encode()
    return length_of(len(data)) + data


def call_headers(method):
    return b"".join(literal(*pair) for pair in [
        (":method", "POST"), (":scheme", "https"), (":path", f"/kindred.v1.Federation/{method}"),
        (":authority", "kindred-coordinator"), ("te", "trailers"),
        ("content-type", "application/grpc")])


def message(content, compressed=0):
    return struct.pack(">BI", compressed, len(content)) + content


class Connection:
    def __init__(self, address, kit, settings=b"", protocols=("h2",), acknowledge=True):
        host, port = address.rsplit(":", 1)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        kit = pathlib.Path(kit)
        context.load_verify_locations(kit / "ca.crt")
        context.load_cert_chain(kit / "client.crt", kit / "client.key")
        context.set_alpn_protocols(list(protocols))
        self.socket = context.wrap_socket(socket.create_connection((host, int(port)), 10),
                                          server_hostname="kindred-coordinator")
        self.rest, self.closed = b"", False
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))
        if acknowledge:
            self.frames(5, lambda seen: any(kind == SETTINGS for kind, *_ in seen))
            self.send(frame(SETTINGS, ACK, 0))

    def send(self, data, seconds=20):
        """False when the other end has closed, or does not read."""
        try:
            self.socket.settimeout(seconds)
            self.socket.sendall(data)
            return True
        except OSError:
            self.closed = True
            return False

    def frames(self, seconds, until=lambda seen: False):
        """The frames (kind, flags, stream, payload) that come in that time, or until it is enough."""
        seen, end = [], time.monotonic() + seconds
        while time.monotonic() < end and not until(seen):
            while len(self.rest) >= 9:
                size = int.from_bytes(self.rest[:3], "big")
                if len(self.rest) < 9 + size:
                    break
                seen.append((self.rest[3], self.rest[4],
                             int.from_bytes(self.rest[5:9], "big"), self.rest[9:9 + size]))
                self.rest = self.rest[9 + size:]
            if until(seen):
                break
            try:
                self.socket.settimeout(0.2)
                more = self.socket.recv(1 << 16)
                if not more:
                    self.closed = True
                    break
                self.rest += more
            except (socket.timeout, ssl.SSLWantReadError):
                continue
            except OSError:
                self.closed = True
                break
        return seen

    def close(self):
        self.socket.close()
