"""One equation per file; each registers its problems under a name for `pdes.get`."""
