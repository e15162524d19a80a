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

/** Whether a column contains this text. `instr` has no wildcards, so every character stands for itself. */
export function hasText(
  column:
    | 'name_folded'
    | 'services.name_folded'
    | 'nodes.name_folded'
    | 'address'
    | 'nodes.address'
    | 'domain'
    | 'domains.domain',
  text: string,
) {
  return sql<SqlBool>`instr(${sql.ref(column)}, ${text}) > 0`
}

/** Whether the address of a service's backend contains this text, in the form of its row: `[fd00::7]:80`. */
export function hasBackend(text: string) {
  const host = sql`coalesce(services.backend_host, 'localhost')`
  // Most texts can only be in one half, which avoids joining both for each row.
  if (!/[:[\]]/.test(text)) {
    const inHost = sql<SqlBool>`instr(${host}, ${text}) > 0`
    return /^\d+$/.test(text)
      ? sql<SqlBool>`(${inHost} OR instr(services.backend_port, ${text}) > 0)`
      : inHost
  }
  const shown = sql`iif(instr(${host}, ':') > 0, '[' || ${host} || ']', ${host})`
  return sql<SqlBool>`instr(${shown} || ':' || services.backend_port, ${text}) > 0`
}

/**
 * Whether the public address of a service, in the form of its row, contains this text outside the part that all
 * share. Text within a domain is searched for in the domains.
 */
export function hasPublicAddress(config: ServerConfig, text: string) {
  const host = bracketed(config.publicHost)
  const port = publicUrl(config).slice(`https://${host}`.length)
  const address = text.replace(/^(https|tcp|udp):\/\//, '').replace(`${port}/`, '/')
  const own = address.startsWith(host) ? address.slice(host.length) : address
  if (own.length < 2) return sql<SqlBool>`0`
  const path = sql`lower(services.path)`
  const places = [sql`instr(${path}, ${own}) > 0`]
  if (/^:?\d+$/.test(own)) places.push(sql`instr(':' || services.port, ${own}) > 0`)
  const end = own.search(/[/:]/)
  if (end > 0) {
    const [name, rest] = [own.slice(0, end), own.slice(end)]
    const named = sql`SELECT id FROM domains WHERE substr(domain, ${-name.length}) = ${name}`
    const begins = sql`instr(${path}, ${rest}) = 1 OR instr(':' || services.port, ${rest}) = 1`
    places.push(sql`(services.domain_id IN (${named}) AND (${begins}))`)
  }
  return sql<SqlBool>`(${sql.join(places, sql` OR `)})`
}

export function networksOf(row: Pick<NodeRow, 'gateway_networks'>): GatewayNetwork[] {
  return row.gateway_networks === '[]' ? [] : Networks.parse(JSON.parse(row.gateway_networks))
}
