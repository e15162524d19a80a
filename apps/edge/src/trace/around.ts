import type { Peer } from '@postern/contract/edge/desired-state'
import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { EdgeSettings } from '@postern/contract/settings/settings'
import type { Exec } from '@postern/host/processes/exec'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { HaproxyLookup } from '../drivers/haproxy/runtime/lookup.ts'

export interface TracerOptions {
  settings: Pick<EdgeSettings, 'POSTERN_HTTP_PORT' | 'POSTERN_HTTPS_PORT' | 'POSTERN_PORT_RANGE'>
  exec: Exec
  interface: string
  haproxy: { lookup: HaproxyLookup; heldPorts(): number[] }
  /** UDP ports that other programs hold. */
  heldUdpPorts(): readonly number[]
  /** What another program's firewall keeps from visitors, in words. */
  wall(): string | null
  send(message: EdgeMessage): unknown
  log: Logger
}

/** What a look has to go by. */
export interface Around extends TracerOptions {
  peers: readonly Peer[]
  publicHost: string
  formerHosts: readonly string[]
  routes: RouteSections
  /** How many ms are left, a whole number. */
  left(): number
}
