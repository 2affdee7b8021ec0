# SPDX-License-Identifier: LGPL-2.1-or-later
"""Client and worker of irisd for asyncio, and an Executor. Written against doc/protocol.md alone.

    async with Client() as client:
        result = await client.submit("sha256", b"hello")
        print(result.body)
"""
from .client import Client, Item, Output, Result
from .errors import Disconnected, Failure, IrisdError, WireError
from .executor import Executor
from .worker import Job, Reply, Worker

__all__ = ["Client", "Disconnected", "Executor", "Failure", "IrisdError", "Item", "Job", "Output", "Reply", "Result",
           "WireError", "Worker"]
__version__ = "0.1.0"
