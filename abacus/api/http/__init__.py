"""HTTP as it is spoken with callers who may be hostile: uvicorn's protocol, with limits."""
