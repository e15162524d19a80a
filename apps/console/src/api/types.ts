import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import type * as z from 'zod/mini'

export type Answer<E extends Endpoint> = E extends { answer: infer A extends z.ZodMiniType }
  ? z.output<A>
  : undefined

/** One row of a list endpoint, which answers with a page or with all rows. */
export type RowOf<E extends Endpoint> = Extract<Answer<E>, readonly unknown[]>[number]

type Input<S, V> = S extends z.ZodMiniType ? { [K in keyof z.input<S>]?: V } : never

/** What a call takes besides its endpoint: path parameters, query and body exactly as the contract has them. */
export type CallInput<E extends Endpoint> = (E extends { params: infer P }
  ? { params: { [K in keyof Input<P, 0>]-?: string | number } }
  : { params?: never }) &
  (E extends { query: infer Q } ? { query?: Input<Q, string | number | undefined> } : { query?: never }) &
  (E extends { body: infer B extends z.ZodMiniType }
    ? Record<never, never> extends z.input<B>
      ? { body?: z.input<B> & Basis<E> }
      : { body: z.input<B> & Basis<E> }
    : { body?: never }) & { signal?: AbortSignal; takeBack?: true }

/** A change of a record may send which state it is based on; an outdated one is refused with the code `stale`. */
type Basis<E extends Endpoint> = E extends { method: 'PATCH' } ? { updated_at?: string } : unknown

/** The same, seen from inside, where the endpoint is any of them. */
export interface RawInput {
  params?: Record<string, string | number>
  query?: Record<string, string | number | undefined>
  body?: unknown
  signal?: AbortSignal
  /** What is changed is taken back soon, unless a person keeps it. */
  takeBack?: true
}
