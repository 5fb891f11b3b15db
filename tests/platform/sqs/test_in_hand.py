"""The age of the messages in hand, whatever becomes of them."""

from abacus.platform.sqs.in_hand import InHand


class Ticking:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_oldest_of_all_hands() -> None:
    ticking = Ticking()
    hands = InHand(forgotten_after_s=10, monotonic=ticking)
    assert hands.oldest_ms is None
    hands.taken("a", 1000)
    hands.taken("b", 500)
    assert hands.oldest_ms == 500
    hands.gone(["b", "never seen"])
    assert hands.oldest_ms == 1000
    ticking.now = 8
    hands.kept(["a", "never seen"])
    ticking.now = 17
    assert hands.oldest_ms == 1000, "it was kept"
    ticking.now = 19
    assert hands.oldest_ms is None, "nobody said a word about it"
    hands.kept(["a"])
    assert hands.oldest_ms is None
