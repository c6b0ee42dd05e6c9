"""Environments of PettingZoo and Gymnasium on the rules of games, and views of them."""
