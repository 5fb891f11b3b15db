"""A plain way by an ORM: for each award the account is locked, changed and committed, with a row that has a unique key.
No chain of hashes, no expiry, no explanation; a transfer changes the member's account alone.
"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import BigInteger, ForeignKey, func, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from benchmarks.rivals.databases import SIZE, database_with
from benchmarks.rivals.port import POINTS, Grant, Ledger, Room, Sums, Work

_TOGETHER: Final = 10_000  # accounts inserted in one statement
MANY: Final = 8  # connections of each process: one waits for the disk while others work


class _Base(DeclarativeBase):
    pass


class Account(_Base):
    """A member's points."""

    __tablename__ = "account"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    balance: Mapped[int] = mapped_column(BigInteger, default=0)


class Transfer(_Base):
    """A change of an account."""

    __tablename__ = "transfer"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    key: Mapped[int] = mapped_column(BigInteger, unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    points: Mapped[int] = mapped_column(BigInteger)
    balance_after: Mapped[int] = mapped_column(BigInteger)
    posted_at: Mapped[datetime] = mapped_column(server_default=func.now())


class PlainOrm(NamedTuple):
    """In a database of its own on this server."""

    server: str
    name: str = "a plain way by an ORM (SQLAlchemy)"
    accounts: int = 1
    a_call: int = 1
    connections: int = MANY

    @asynccontextmanager
    async def room(self, work: Work) -> AsyncIterator[Room]:
        async with database_with(self.server) as url:
            async with _engine(url, 1) as engine, engine.begin() as connection:
                await connection.run_sync(_Base.metadata.create_all)
                for start in range(0, work.members, _TOGETHER):
                    ids = range(start, min(start + _TOGETHER, work.members))
                    await connection.execute(insert(Account), [{"id": id_, "balance": 0} for id_ in ids])
                await connection.execute(text("analyze account"))
            yield _Room(url)


class _Room(NamedTuple):
    url: str

    @asynccontextmanager
    async def opened(self, connections: int) -> AsyncIterator[Ledger]:
        async with _engine(self.url, connections) as engine:
            yield _Ledger(async_sessionmaker(engine))


@asynccontextmanager
async def _engine(url: str, connections: int) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine(make_url(url).set(drivername="postgresql+asyncpg"), pool_size=connections)
    try:
        yield engine
    finally:
        await engine.dispose()


class _Ledger:
    def __init__(self, sessions: async_sessionmaker[AsyncSession]) -> None:
        self._sessions = sessions

    async def post(self, grants: Sequence[Grant]) -> None:
        for grant in grants:
            async with self._sessions() as session:
                account = await session.get_one(Account, grant.member, with_for_update=True)
                account.balance += POINTS
                entry = Transfer(key=grant.number, account_id=account.id, points=POINTS, balance_after=account.balance)
                session.add(entry)
                try:
                    await session.commit()
                except IntegrityError:  # it was posted before
                    await session.rollback()

    async def counted(self) -> Counter[int]:
        async with self._sessions() as session:
            return Counter((await session.scalars(select(Transfer.key))).all())

    async def sums(self) -> Sums:
        async with self._sessions() as session:
            members, transfers = [
                await session.scalar(select(func.coalesce(func.sum(column), 0)))
                for column in (Account.balance, Transfer.points)
            ]
        return Sums(int(members or 0), int(transfers or 0))

    async def size(self) -> int:
        async with self._sessions() as session:
            return int(await session.scalar(text(SIZE)) or 0)
