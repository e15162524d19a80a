import type { BackendProto, PortProto } from '@postern/contract/services/service-fields'
import type { HttpService, HttpServiceForm, TcpService } from '@postern/contract/services/services'
import type { ColumnType, Generated } from 'kysely'

/** SQLite has no booleans. */
export type Flag = 0 | 1

export const flag = (value: boolean): Flag => (value ? 1 : 0)

/** RFC 3339 UTC with milliseconds. */
export type Time = string
/** Never changed after the insert. */
export type Fixed<T> = ColumnType<T, T, never>
export interface Dated {
  created_at: Fixed<Time>
  updated_at: Time
}
/** Text sealed by `core/secrets/secrets.ts`. */
export type Sealed = string
/** Text that is JSON; the comment gives its form. */
export type Json = string

/** Columns that only HTTP services have; other rows hold null where the column must exist. */
export interface HttpColumns {
  path: string | null
  backend_proto: BackendProto | null
  require_auth: Generated<Flag>
  /** Null for none. */
  skip_auth_routes: string | null
  strip_path: Generated<Flag>
}

/** Columns that only TCP and UDP services have; null for others. */
export interface TcpColumns {
  proto: PortProto | null
  /** The public one. */
  port: number | null
  /** Whether TLS ends at the edge. */
  ssl: Flag | null
}

/** The row of a service with all columns. */
type Held<T> = { [K in keyof T]: T[K] extends Generated<infer V> ? V : T[K] }
export type OwnColumns = Held<HttpColumns & TcpColumns>

/** The columns of a form. Values that only count together with others are dropped without these. */
export function httpColumnsOf(form: HttpServiceForm) {
  return {
    path: form.pathLocation ?? '/',
    backend_proto: form.backendProto,
    require_auth: flag(form.requireAuth),
    skip_auth_routes: form.requireAuth ? form.skipAuthRoutes : null,
    strip_path: flag(form.stripPath && (form.pathLocation ?? '/') !== '/'),
  } satisfies Partial<OwnColumns>
}

/** Their values in a form or the API. */
export function httpFieldsOf(row: Held<HttpColumns>) {
  return {
    pathLocation: row.path ?? '/',
    backendProto: row.backend_proto ?? 'http',
    requireAuth: row.require_auth === 1,
    skipAuthRoutes: row.skip_auth_routes,
    ...httpSwitchesOf(row),
  } satisfies Partial<HttpService>
}

/** Columns that go to the edge unchanged. */
export function httpSwitchesOf(row: Held<HttpColumns>) {
  return { stripPath: row.strip_path === 1 }
}

export function tcpFieldsOf(row: TcpColumns) {
  return { proto: row.proto ?? 'tcp', port: row.port ?? 0, ssl: row.ssl === 1 } satisfies Partial<TcpService>
}
