"""`abacus partners`: its output, its rows, its refusals."""

from tests.support.commands import abacus, abacus_process
from tests.support.house import House


async def test_a_partners_life(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}

    made = (
        await abacus(
            *("partners", "create", "acme", "--name", "Acme Ltd", "--no-computed-points", "--country", "SG"),
            *(
                "--country",
                "ID",
                "--budget-per-day",
                "5000",
                "--cap-per-award",
                "100",
                "--sign",
                "--by",
                "ann",
                "--json",
            ),
            env=env,
        )
    ).json
    assert made["key"].startswith("abk_live_")
    assert made["signing_secret"].startswith("abs_")
    rotated = (await abacus("partners", "rotate-key", "acme", "--overlap-hours", "1", "--json", env=env)).json
    assert rotated["key"] != made["key"]

    listed = await abacus("partners", "list", "--json", env=env)
    for secret in (made["key"], rotated["key"], made["signing_secret"]):
        assert secret not in listed.out
    stored = await house.pool.fetch("select * from partner_key")
    assert all(made["key"] not in str(dict(row)) for row in stored)
    (acme,) = listed.json
    assert (acme["name"], acme["created_by"], acme["countries"]) == ("Acme Ltd", "ann", ["SG", "ID"])
    assert (acme["fixed_points"], acme["computed_points"], acme["signed"]) == (True, False, True)
    assert acme["limits"] == {"per_award": 100, "per_member_day": None, "per_day": 5000, "in_total": None}
    assert [key["prefix"] for key in acme["keys"]] == [made["key"][:21], rotated["key"][:21]]
    assert acme["keys"][0]["expires_at"] is not None

    signed = (await abacus("partners", "sign", "acme", "--json", env=env)).json
    assert signed["signing_secret"].startswith("abs_")
    assert signed["signing_secret"] != made["signing_secret"]
    assert (await house.pool.fetchval("select signing_secret from partner")) == signed["signing_secret"]
    assert (await abacus("partners", "sign", "acme", "--off", env=env)).out == "acme need not sign its requests\n"
    assert (await abacus("partners", "list", "--json", env=env)).json[0]["signed"] is False

    limited = (await abacus("partners", "limit", "acme", "--budget-total", "9000", "--json", env=env)).json
    assert limited["limits"] == {"per_award": 100, "per_member_day": None, "per_day": 5000, "in_total": 9000}
    limited = (await abacus("partners", "limit", "acme", "--no-limits", "--json", env=env)).json
    assert set(limited["limits"].values()) == {None}
    assert (await abacus("partners", "disable", "acme", env=env)).out.startswith("acme is disabled since")
    table = await abacus_process("partners", "list", env={**env, "COLUMNS": "200"})
    assert "Acme Ltd" in table.out
    assert "disabled" in table.out


async def test_what_is_refused(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
    assert (await abacus("partners", "create", "acme", env=env)).code == 0
    for arguments, line in (
        (["create", "acme"], "there is a partner 'acme' already"),
        (["create", "Acme"], "'Acme': an id has 1 to 40 small letters, digits and hyphens"),
        (["create", "bits", "--country", "sg"], "--country: 'sg' is not a country"),
        (["create", "bits", "--no-fixed-points", "--no-computed-points"], "a partner that may award nothing"),
        (["create", "bits", "--card", "partner:bits"], "no rate card of the scope 'partner:bits' is published"),
        (["rotate-key", "nobody"], "no partner is called 'nobody'"),
        (["disable", "nobody"], "no partner is called 'nobody'"),
        (["sign", "nobody"], "no partner is called 'nobody'"),
        (["limit", "nobody", "--no-limits"], "no partner is called 'nobody'"),
        (["limit", "acme"], "say which limits to change"),
        (["limit", "acme", "--no-limits", "--cap-per-award", "1"], "say which limits to change"),
    ):
        ran = await abacus("partners", *arguments, env=env)
        assert ran.code == 2, arguments
        assert line in ran.err
        assert "Traceback" not in ran.err
