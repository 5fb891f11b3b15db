"""The SQL of a kind's table, and of a table of versions with states."""

from typing import Final

from abacus.documents.kind import Table
from abacus.platform.sql import Statement

# The connections of workers join by keys alone, which compares each mark that is known with each version there is.
JOIN_BY_HASH: Final = "set local enable_hashjoin = on"

# From its approval to its end, which people may have made earlier; a version that waits for approval is to run.
_RUNS: Final = """
status <> 'draft' and (status <> 'ended' or approved_at is not null)
and (approved_at is null or approved_at < :until)
and (status not in ('ended', 'exhausted') or changed_at > greatest(:since, starts_at, approved_at))
"""


class Statements:
    """Reading leaves out the documents of versions whose marks are `known`."""

    def __init__(self, table: Table) -> None:
        name, key, own, more, withdrawals, key_type, at, by = table
        mark, withdrawn, join = f"d.{key} || '@' || d.version", "null, null, null", ""
        if withdrawals is not None:
            other, _, verb = withdrawals
            mark = f"{mark} || case when w.version is null then '' else '-' end"
            withdrawn = f"w.{verb}_at, w.{verb}_by, w.reason"
            join = f"left join {other} w on w.{key} = d.{key} and w.version = d.version"
            self.withdraw = Statement(f"""
                insert into {other} ({key}, version, {verb}_at, {verb}_by, reason)
                values (:key, :version, :now, :by, :reason)
            """)
        told = f"""
            d.{key}, d.version, case when k.mark is null then d.document end, d.{at}, d.{by},
            {", ".join([withdrawn, *(f"d.{each}" for each in own), *more.values()])}
            from {name} d {join} left join unnest(:known::text[]) k (mark) on k.mark = {mark}
        """
        columns = [key, "version", "document", at, by, *own]
        values = ["key", "version", "document", "at", "by", *own]
        self.lock = Statement(f"select pg_advisory_xact_lock(hashtext('{name}'))")
        self.hold = Statement(f"select pg_advisory_xact_lock_shared(hashtext('{name}'))")
        self._told = told
        self._order = f"order by d.{key}, d.version"
        self.latest = Statement(f"select distinct on (d.{key}) {told} order by d.{key}, d.version desc")
        self.history = self.where(f":keys::{key_type}[] is null or d.{key} = any(:keys)")
        self.insert = Statement(f"""
            insert into {name} ({", ".join(columns)}) values ({", ".join(f":{each}" for each in values)})
        """)

    def where(self, condition: str) -> Statement:
        """The versions that a condition holds for, by key and version; `d` is the table."""
        return Statement(f"select {self._told} where {condition} {self._order}")


class StatedStatements:
    """States are as `state_at` tells them. A document's key is its name."""

    def __init__(self, table: Table) -> None:
        name, key = table.name, table.key
        where = Statements(table).where
        self.page = where(f"""
            (d.{key}, d.version) in (
                select {key}, version from (
                    select distinct on ({key}) {key}, version,
                        case when status in ('approved', 'paused') and :now >= ends_at then 'ended'
                            when status <> 'approved' then status
                            when :now >= starts_at then 'running' else 'scheduled' end as state
                    from {name}
                    where (:after::text is null or {key} > :after)
                        and (:countries::text[] is null or country = any(:countries))
                    order by {key}, version desc
                ) latest
                where :state::text is null or state = :state order by {key} limit :limit
            )
        """)
        between = f"""
            from {name} where starts_at < :until and ends_at > :since and {_RUNS}
                and (:countries::text[] is null or country = any(:countries))
        """
        self.between = where(f"""
            (d.{key}, d.version) in (
                select {key}, version {between} and (
                    :after_country::text is null
                    or (country collate "C", {key}, version) > (:after_country, :after_name, :after_version::integer)
                )
                order by country collate "C", {key}, version limit :limit
            )
        """)
        self.countries_between = Statement(f"select distinct country {between} order by country")
        self.beside = where("d.status in ('submitted', 'approved', 'paused')")
        self.versions = where(f"(d.{key}, d.version) in (select * from unnest(:names::text[], :versions::integer[]))")
        self.in_force = Statement(f"select {key}, version from {name} where status = 'approved' and ends_at > :since")
        self.set = Statement(f"""
            update {name} set status = :status, changed_at = :now, changed_by = :by, reason = :reason,
                approved_by = coalesce(approved_by, :approved_by),
                approved_at = coalesce(approved_at, case when :approved_by::text is not null then :now::timestamptz end)
            where {key} = :key and version = :version
        """)
