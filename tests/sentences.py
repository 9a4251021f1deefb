"""The form of every message: one sentence."""
import re


def one_sentence(message):
    assert message.endswith((".", "?")) and "\n" not in message and len(message) < 800, message
    quoted = re.sub(r"'[^']*'|\"[^\"]*\"|\([^()]*\)", "''", message) # what others wrote, or said, is theirs
    assert not re.search(r"[a-z)'`]\. [A-Z]", quoted), f"more than one sentence: {message}"
