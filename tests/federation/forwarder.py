#!/usr/bin/python3
"""A TCP forwarder that makes a good link bad.

    forwarder.py --to HOST:PORT [--listen HOST:PORT] [--delay MS] [--loss SHARE] [--rate BITS]

Each direction has its own delay, losses and rate. TCP never loses bytes, it stalls: a lost segment
arrives a retransmission time later, and everything behind it waits. Commands on standard input:

    refuse SECONDS   drops all connections and refuses new ones for so long
    hole SECONDS     keeps them open and passes nothing for so long
    stats            prints bytes passed, segments stalled, connections taken and refused
"""
import argparse
import asyncio
import random
import sys
import time

SEGMENT = 1448


class Link:
    """What all connections share: the link's state and its counts."""

    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.refused_until = self.hole_until = 0.0
        self.writers = set()
        self.bytes = self.stalls = self.taken = self.refused = 0
        self.free_at = {"up": 0.0, "down": 0.0}  # when each direction's rate allows the next bytes

    def arrival(self, direction, size):
        """When a segment that is sent now arrives."""
        now = time.monotonic()
        leaves = max(now, self.free_at[direction])
        if self.options.rate:
            leaves += 8 * size / self.options.rate
            self.free_at[direction] = leaves
        arrives = leaves + self.options.delay / 1000
        if self.random.random() < self.options.loss:
            self.stalls += 1
            arrives += self.random.uniform(0.2, 1.0)
        return arrives

    async def passable(self):
        while time.monotonic() < self.hole_until:
            await asyncio.sleep(0.05)

    async def pump(self, reader, writer, direction):
        """Reads segments, and hands them over in order when each has arrived."""
        queue = asyncio.Queue(64)  # as much as is under way

        async def deliver():
            last = 0.0
            while True:
                segment, arrives = await queue.get()
                if segment is None:
                    break
                last = max(last, arrives)  # those behind a lost one wait for it
                await asyncio.sleep(max(0.0, last - time.monotonic()))
                await self.passable()
                writer.write(segment)
                await writer.drain()
                self.bytes += len(segment)

        async def take():
            while True:
                segment = await reader.read(SEGMENT)
                if not segment:
                    break
                await queue.put((segment, self.arrival(direction, len(segment))))
            await queue.put((None, 0))

        await asyncio.gather(take(), deliver())
        if writer.can_write_eof():
            writer.write_eof()

    async def serve(self, reader, writer):
        if time.monotonic() < self.refused_until:
            self.refused += 1
            writer.transport.abort()
            return
        self.taken += 1
        host, port = self.options.to.rsplit(":", 1)
        try:
            there_reader, there_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            self.refused += 1
            writer.transport.abort()
            return
        self.writers |= {writer, there_writer}
        pumps = [asyncio.ensure_future(self.pump(reader, there_writer, "up")),
                 asyncio.ensure_future(self.pump(there_reader, writer, "down"))]
        try:
            await asyncio.gather(*pumps)
        except OSError:
            pass
        finally:
            for pump in pumps:
                pump.cancel()
            self.writers -= {writer, there_writer}
            for each in (writer, there_writer):
                each.transport.abort()

    def command(self, line):
        words = line.split()
        if words[:1] == ["refuse"]:
            self.refused_until = time.monotonic() + float(words[1])
            for writer in list(self.writers):
                writer.transport.abort()
        elif words[:1] == ["hole"]:
            self.hole_until = time.monotonic() + float(words[1])
        print(f"{' '.join(words)}: {self.bytes} bytes, {self.stalls} stalls, {self.taken} taken, "
              f"{self.refused} refused", flush=True)


async def run(options):
    link = Link(options)
    host, port = options.listen.rsplit(":", 1)
    server = await asyncio.start_server(link.serve, host, int(port))
    print("listening on {}:{}".format(*server.sockets[0].getsockname()[:2]), flush=True)
    done = asyncio.Event()

    def on_input():
        line = sys.stdin.readline()
        if not line:  # whoever started it is gone
            done.set()
        elif line.strip():
            link.command(line)
    asyncio.get_running_loop().add_reader(sys.stdin, on_input)
    await done.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--to", required=True)
    parser.add_argument("--delay", type=float, default=0, help="milliseconds each way")
    parser.add_argument("--loss", type=float, default=0, help="share of segments that come late")
    parser.add_argument("--rate", type=float, default=0, help="bits a second each way; 0: any")
    parser.add_argument("--seed", type=int, default=0)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
