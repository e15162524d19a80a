import type { BackendProto, PortProto } from '@postern/contract/service-fields'
import type { HttpService, HttpServiceForm, TcpService } from '@postern/contract/services'
import type { ColumnType, Generated } from 'kysely'

/** SQLite has no booleans. */
export type Flag = 0 | 1

export const flag = (value: boolean): Flag => (value ? 1 : 0)

/** RFC 3339 UTC with milliseconds. */
export type Time = string
/** Never changed after the insert. */
export type Fixed<T> = ColumnType<T, T, never>
/** Text sealed by `core/secrets/secrets.ts`. */
export type Sealed = string
/** Text that is JSON; its shape stands in the comment. */
export type Json = string

/** What only HTTP services have; null where a column must be, in rows of others. */
export interface HttpColumns {
  path: string | null
  backend_proto: BackendProto | null
  require_auth: Generated<Flag>
  /** Null for none. */
  skip_auth_routes: string | null
  strip_path: Generated<Flag>
}

/** What only TCP and UDP services have; null for others. */
export interface TcpColumns {
  proto: PortProto | null
  /** The public one. */
  port: number | null
  /** Whether TLS ends at the edge. */
  ssl: Flag | null
}

/** The row of a service that has all of it as a row. */
type Held<T> = { [K in keyof T]: T[K] extends Generated<infer V> ? V : T[K] }
export type OwnColumns = Held<HttpColumns & TcpColumns>

/** The columns of a form. What counts only beside something else goes without it. */
export function httpColumnsOf(form: HttpServiceForm) {
  return {
    path: form.pathLocation ?? '/',
    backend_proto: form.backendProto,
    require_auth: flag(form.requireAuth),
    skip_auth_routes: form.requireAuth ? form.skipAuthRoutes : null,
    strip_path: flag(form.stripPath && (form.pathLocation ?? '/') !== '/'),
  } satisfies Partial<OwnColumns>
}

/** What a form or the API says of them. */
export function httpFieldsOf(row: Held<HttpColumns>) {
  return {
    pathLocation: row.path ?? '/',
    backendProto: row.backend_proto ?? 'http',
    requireAuth: row.require_auth === 1,
    skipAuthRoutes: row.skip_auth_routes,
    ...httpSwitchesOf(row),
  } satisfies Partial<HttpService>
}

/** What goes to the edge as it is. */
export function httpSwitchesOf(row: Held<HttpColumns>) {
  return { stripPath: row.strip_path === 1 }
}

export function tcpFieldsOf(row: TcpColumns) {
  return { proto: row.proto ?? 'tcp', port: row.port ?? 0, ssl: row.ssl === 1 } satisfies Partial<TcpService>
}
