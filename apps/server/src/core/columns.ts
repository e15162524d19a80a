import { GatewayNetwork } from '@postern/contract/nodes'
import * as z from 'zod/mini'
import type { NodeRow } from '../db/schema.ts'

const Texts = z.array(z.string())
const Networks = z.array(GatewayNetwork)

/** A list of texts as its column holds it. */
export function textsOf(json: string): string[] {
  return json === '[]' ? [] : Texts.parse(JSON.parse(json))
}

export function networksOf(row: Pick<NodeRow, 'gateway_networks'>): GatewayNetwork[] {
  return row.gateway_networks === '[]' ? [] : Networks.parse(JSON.parse(row.gateway_networks))
}
