"""Finders of patient details, one kind a module (pure); `bot.privacy` joins what they find."""
