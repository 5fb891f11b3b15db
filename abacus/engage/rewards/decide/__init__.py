"""What rewards are, who may have them at which price, and how a redemption goes on. Pure."""
