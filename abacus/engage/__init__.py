"""What members hear and see: notifications; later events, counters and campaigns."""
