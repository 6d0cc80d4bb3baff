"""What Alembic runs: the steps, on the connection that it was given, in its transaction."""

from alembic import context

from elastocal.store.rows import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a column by making its table anew
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
