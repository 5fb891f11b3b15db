"""Example rate cards of six countries: the demo publishes them, and real cards can be written after them."""

from importlib.resources import files

from abacus.pricing.decide.card import RateCard, parse_toml


def example_cards() -> list[RateCard]:
    """One card for each of ID, MY, PH, SG, TH and VN."""
    sources = [entry for entry in files(__name__).joinpath("cards").iterdir() if entry.name.endswith(".toml")]
    return [parse_toml(source.read_text("utf-8")) for source in sorted(sources, key=lambda entry: entry.name)]
