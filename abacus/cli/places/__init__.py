"""The commands of places."""

from typing import Final

COMMANDS: Final = {
    "places": "commands:app",
    "places load": "place_load:load_places",
    "places remove": "place_load:remove_place",
    "places find": "place_views:find_place",
    "places nearest": "place_views:nearest_places",
    "places where": "place_where:where_is_member",
    "places regions": "regions:app",
}
