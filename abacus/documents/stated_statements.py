"""The SQL of a table of versions with states."""

from abacus.documents.kind import Table
from abacus.documents.statements import Statements
from abacus.platform.sql import Statement


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
        self.beside = where("d.status in ('submitted', 'approved', 'paused')")
        self.versions = where(f"(d.{key}, d.version) in (select * from unnest(:names::text[], :versions::integer[]))")
        self.in_force = Statement(f"select {key}, version from {name} where status = 'approved' and ends_at > :since")
        self.set = Statement(f"""
            update {name} set status = :status, changed_at = :now, changed_by = :by, reason = :reason,
                approved_by = coalesce(approved_by, :approved_by),
                approved_at = coalesce(approved_at, case when :approved_by::text is not null then :now::timestamptz end)
            where {key} = :key and version = :version
        """)
