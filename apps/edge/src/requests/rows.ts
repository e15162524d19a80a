import type { KeptRequest } from '@postern/contract/requests/kept'
import { FIELDS, type Field } from './block.ts'
import { type Column, numberAt, textAt } from './columns.ts'

/** Gives the fields of a block, each read once. */
export interface Fields {
  read(field: Field): Promise<Column>
}

/** These rows of a block, in this order. */
export async function readRows(fields: Fields, rows: readonly number[]): Promise<KeptRequest[]> {
  const columns = new Map<Field, Column>()
  for (const field of FIELDS) columns.set(field, await fields.read(field))
  return rows.map((row) => {
    const number = (field: Field) => {
      const column = columns.get(field)
      return column?.kind === 'number' ? numberAt(column, row) : null
    }
    const text = (field: Field) => {
      const column = columns.get(field)
      return column?.kind === 'text' ? textAt(column, row) : null
    }
    const type = text('type')
    return {
      at: number('at') ?? 0,
      type: type === 'tcp' || type === 'udp' ? type : 'http',
      service: number('service') ?? 0,
      source: text('source') ?? '',
      person: text('person'),
      method: text('method'),
      path: text('path'),
      query: text('query'),
      status: number('status'),
      received: number('received') ?? 0,
      sent: number('sent') ?? 0,
      connect: number('connect'),
      response: number('response'),
      total: number('total'),
      target: text('target'),
      reason: text('reason'),
      detail: text('detail'),
    }
  })
}
