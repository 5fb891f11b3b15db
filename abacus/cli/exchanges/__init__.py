"""The commands of exchanges with partners."""

from typing import Final

COMMANDS: Final = {
    "exchanges": "commands:app",
    "exchanges quote": "converting:quote_exchange",
    "exchanges convert": "converting:convert_quote",
    "exchanges find": "exchanges:find_exchanges",
    "exchanges get": "exchanges:get_exchange",
    "exchanges cancel": "exchanges:cancel_exchange",
    "exchanges reverse": "exchanges:reverse_exchange",
    "exchanges settle": "exchanges:settle_exchange",
    "exchanges restored": "exchanges:note_restored",
    "exchanges matched": "exchanges:note_matched",
    "exchanges books": "books:app",
    "exchanges breaks": "breaks:app",
    "exchanges links": "links:list_links",
    "exchanges link": "links:link_account",
    "exchanges verify": "links:verify_link",
    "exchanges unlink": "links:unlink_account",
    "exchanges client-secret": "client_secret:set_client_secret",
    "exchanges files": "files:app",
    "exchanges reconcile": "reconcile:reconcile_exchanges",
    "exchanges conform": "conform:conform",
    "exchanges check-report": "conform:check_report",
    "exchanges partner-sim": "partner_sim:partner_sim",
}
