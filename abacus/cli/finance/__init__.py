"""The commands of reports and of a month's close."""
