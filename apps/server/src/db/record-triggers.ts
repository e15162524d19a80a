import type { DatabaseSync } from 'node:sqlite'
import { RECORDED, type RecordedTable, UNTOLD, VALUES } from './recorded-tables.ts'

/**
 * Makes the database note what becomes of rows, for this connection: while `recording.is_on` is 1, each insert, update
 * and delete of a recorded table adds a row to `change_log`. Triggers see every statement, so that no way of saving can
 * forget the history, and secrets become `changed` before anything of them is copied.
 */
export function recordRows(database: DatabaseSync): void {
  database.exec(`PRAGMA temp_store = MEMORY;
    CREATE TEMP TABLE recording (is_on INTEGER NOT NULL) STRICT;
    INSERT INTO recording VALUES (0);
    CREATE TEMP TABLE change_log (
      kind TEXT NOT NULL, record_id INTEGER, name TEXT, node_id INTEGER, domain_id INTEGER,
      field TEXT, is_list INTEGER NOT NULL, before TEXT, after TEXT
    ) STRICT;`)
  for (const [table, recorded] of Object.entries(RECORDED)) {
    const columns = readColumns(database, table, recorded)
    for (const event of EVENTS) database.exec(rowTrigger(table, recorded, columns, event))
  }
  for (const [table, value] of Object.entries(VALUES))
    for (const event of EVENTS) database.exec(valueTrigger(table, value, event))
}

const EVENTS = ['INSERT', 'UPDATE', 'DELETE'] as const
type Event = (typeof EVENTS)[number]
type Row = 'OLD' | 'NEW'

interface Column {
  name: string
  field: string
  /** The SQL of its value in a row, for `json_object`. */
  read: (row: Row) => string
  isSecret: boolean
}

const LOOKS_SECRET = /hash|key|secret|token|password/

function readColumns(database: DatabaseSync, table: string, recorded: RecordedTable): Column[] {
  const { sql } = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table) ?? {}
  const names = database
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map((row) => String(row.name))
  return names
    .filter((name) => !UNTOLD.has(name))
    .map((name) => {
      const { field = toCamel(name), value = `ROW.${name}` } = recorded.fields?.[name] ?? {}
      const isFlag = String(sql).includes(`CHECK (${name} IN (0, 1))`)
      const isSecret =
        recorded.secret?.includes(name) === true ||
        (LOOKS_SECRET.test(name) && recorded.open?.includes(name) !== true)
      const read = (row: Row) => {
        const text = value.replaceAll('ROW.', `${row}.`)
        if (recorded.json?.includes(name)) return `json(${text})`
        return isFlag ? `json(CASE ${text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END)` : text
      }
      return { name, field, read, isSecret }
    })
}

const toCamel = (column: string) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Reads only whether a secret is there and, in `after`, whether it changed. */
function readSecret({ name }: Column, row: Row, event: Event): string {
  const there =
    event === 'UPDATE' && row === 'NEW'
      ? `CASE WHEN OLD.${name} IS NEW.${name} THEN 'set' ELSE 'changed' END`
      : "'set'"
  return `CASE WHEN ${row}.${name} IS NULL THEN NULL ELSE ${there} END`
}

function imageOf(columns: readonly Column[], row: Row, event: Event): string {
  const parts = columns.map(
    (column) => `'${column.field}', ${column.isSecret ? readSecret(column, row, event) : column.read(row)}`,
  )
  return `json_object(${parts.join(', ')})`
}

function rowTrigger(
  table: string,
  recorded: RecordedTable,
  columns: readonly Column[],
  event: Event,
): string {
  const row: Row = event === 'DELETE' ? 'OLD' : 'NEW'
  const of = (text: string | undefined) => text?.replaceAll('ROW.', `${row}.`) ?? 'NULL'
  const conditions = [
    IS_ON,
    ...(recorded.unless === undefined ? [] : [`NOT ${of(recorded.unless)}`]),
    ...(event === 'UPDATE'
      ? [`(${columns.map(({ name }) => `OLD.${name} IS NOT NEW.${name}`).join(' OR ')})`]
      : []),
  ]
  const id = columns.some(({ name }) => name === 'key') ? 'NULL' : `${row}.id`
  const before = event === 'INSERT' ? 'NULL' : imageOf(columns, 'OLD', event)
  const after = event === 'DELETE' ? 'NULL' : imageOf(columns, 'NEW', event)
  return `CREATE TEMP TRIGGER recorded_${table}_${event} AFTER ${event} ON main.${table}
    WHEN ${conditions.join(' AND ')} BEGIN
      INSERT INTO change_log VALUES ('${recorded.kind}', ${id}, ${of(recorded.name)}, ${of(recorded.nodeId)},
        ${of(recorded.domainId)}, NULL, 0, ${before}, ${after});
    END`
}

const IS_ON = '(SELECT is_on FROM recording) = 1'

function valueTrigger(table: string, value: (typeof VALUES)[keyof typeof VALUES], event: Event): string {
  const of = (text: string, row: Row) => text.replaceAll('ROW.', `${row}.`)
  const row: Row = event === 'DELETE' ? 'OLD' : 'NEW'
  // A row that stays may leave its record.
  const id =
    event === 'UPDATE' ? `coalesce(${of(value.of, 'OLD')}, ${of(value.of, 'NEW')})` : of(value.of, row)
  const before = event === 'INSERT' ? 'NULL' : of(value.value, 'OLD')
  const after = event === 'DELETE' ? 'NULL' : of(value.value, 'NEW')
  return `CREATE TEMP TRIGGER recorded_${table}_${event} AFTER ${event} ON main.${table}
    WHEN ${IS_ON} BEGIN
      INSERT INTO change_log VALUES (${of(value.kind, row)}, ${id}, NULL, NULL, NULL,
        '${value.field}', ${value.isList ? 1 : 0}, ${before}, ${after});
    END`
}
