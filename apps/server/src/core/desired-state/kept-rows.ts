import {
  certificatesSectionOf,
  challengesSectionOf,
  peersSectionOf,
  portsSectionOf,
  routesSectionOf,
  signInsSectionOf,
} from '@postern/contract/edge/desired-state'
import type { RoutedNode } from './records.ts'
import { createTextSections, type TextSections } from './sections.ts'

/** Before the first reading, every row is new, and none can be gone. */
export const NEVER = -1

/** The content of the desired state at `revision`. */
export interface StatedRows {
  revision: number
  nodes: Map<number, RoutedNode>
  /** Their names. */
  domains: Map<number, string>
  /** Those that are not at all edges. */
  limited: Set<number>
  peers: TextSections
  routes: TextSections
  ports: TextSections
  signIns: TextSections
  challenges: TextSections
  /** All of them, including those that have nothing to send yet. */
  certificateIds: Set<number>
  /** Those that can be sent, each with a hash instead of its text. */
  certificates: TextSections
  /** The domain of each service, including withheld ones. */
  services: Map<number, number | null>
  /** The services that agents publish, by domain. Other services there decide whether these are allowed. */
  published: Map<number, Set<number>>
}

export function createStatedRows(): StatedRows {
  return {
    revision: NEVER,
    nodes: new Map(),
    domains: new Map(),
    limited: new Set(),
    peers: createTextSections(peersSectionOf),
    routes: createTextSections(routesSectionOf),
    ports: createTextSections(portsSectionOf),
    signIns: createTextSections(signInsSectionOf),
    challenges: createTextSections(challengesSectionOf),
    certificateIds: new Set(),
    certificates: createTextSections(certificatesSectionOf),
    services: new Map(),
    published: new Map(),
  }
}
