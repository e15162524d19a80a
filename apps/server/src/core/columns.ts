import { GatewayNetwork } from '@postern/contract/nodes'
import { type SqlBool, sql } from 'kysely'
import * as z from 'zod/mini'
import { bracketed, publicUrl, type ServerConfig } from '../config.ts'
import type { NodeRow } from '../db/schema.ts'

const Texts = z.array(z.string())
const Networks = z.array(GatewayNetwork)

/** A list of texts as its column holds it. */
export function textsOf(json: string): string[] {
  return json === '[]' ? [] : Texts.parse(JSON.parse(json))
}

/** Whether a column has this text in it. `instr` knows no wildcards, so every character stands for itself. */
export function hasText(
  column: 'name_folded' | 'services.name_folded' | 'address' | 'domain' | 'domains.domain',
  text: string,
) {
  return sql<SqlBool>`instr(${sql.ref(column)}, ${text}) > 0`
}

/** Whether a service leads to an address that has this text in it, as its row shows it: `[fd00::7]:80`. */
export function hasBackend(text: string) {
  const host = sql`iif(instr(services.backend_host, ':') > 0,
    '[' || services.backend_host || ']', coalesce(services.backend_host, 'localhost'))`
  return sql<SqlBool>`instr(${host} || ':' || services.backend_port, ${text}) > 0`
}

/** Whether the public address of a service, as its row shows it, has this text in it beyond what all of them have. */
export function hasPublicAddress(config: ServerConfig, text: string) {
  const host = bracketed(config.publicHost)
  const port = publicUrl(config).slice(`https://${host}`.length)
  const address = text.replace(/^(https|tcp|udp):\/\//, '').replace(`${port}/`, '/')
  const own = address.startsWith(host) ? address.slice(host.length) : address
  const shown = sql`coalesce((SELECT shown.domain FROM domains AS shown WHERE shown.id = services.domain_id), '') ||
    coalesce(services.path, ':' || services.port)`
  return own.length > 1 ? sql<SqlBool>`instr(lower(${shown}), ${own}) > 0` : sql<SqlBool>`0`
}

export function networksOf(row: Pick<NodeRow, 'gateway_networks'>): GatewayNetwork[] {
  return row.gateway_networks === '[]' ? [] : Networks.parse(JSON.parse(row.gateway_networks))
}
