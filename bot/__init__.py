"""Answering people on Mattermost with what the guidelines say."""
