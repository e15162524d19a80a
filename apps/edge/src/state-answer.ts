import {
  type DesiredState,
  EdgeCertificate,
  Peer,
  PortRoute,
  peersSectionOf,
  portsSectionOf,
  Route,
  routesSectionOf,
  SectionHashes,
  type StateAnswer,
  TunnelSettings,
} from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import * as z from 'zod/mini'
import { StateError } from './held-state.ts'

export interface ParsedAnswer {
  answer: StateAnswer
  /** What was left out, because it is not of the form that the contract says. */
  problems: Problem[]
}

/** An answer of which the rows are still to be read. */
const Outline = z.object({
  revision: z.number(),
  hashes: SectionHashes,
  sections: z.object({
    settings: z.optional(z.unknown()),
    peers: z.array(z.unknown()),
    routes: z.array(z.unknown()),
    ports: z.array(z.unknown()),
    certificates: z.array(z.unknown()),
  }),
})
const Named = z.object({ id: z.optional(z.number()), nodeId: z.optional(z.number()) })

/**
 * One row that is not as the contract says never takes the others with it: it is left out as a problem of its
 * own. The hash of its section is then empty, so that the section is asked for again.
 * @param held whose settings stay in force when those of the answer are no good
 * @throws StateError when the answer as a whole is not one
 */
export function parseStateAnswer(
  body: unknown,
  held: Pick<DesiredState, 'settings'> | undefined,
): ParsedAnswer {
  const outline = Outline.safeParse(body)
  if (!outline.success) throw new StateError(UNKNOWN_STATE, { cause: outline.error })
  const { revision, hashes, sections } = outline.data
  const problems: Problem[] = []
  const refuse = (scope: Problem['scope'], section: string) => {
    problems.push({ scope, message: scope.kind === 'edge' ? UNKNOWN_SETTINGS : UNKNOWN })
    hashes[section] = ''
  }
  const sift = <T>(
    rows: unknown[],
    schema: z.ZodMiniType<T>,
    kind: Kind,
    sectionOf: (id: number) => string,
  ) =>
    rows.flatMap((row) => {
      const parsed = schema.safeParse(row)
      if (parsed.success) return [parsed.data]
      const id = Named.safeParse(row).data?.[kind === 'node' ? 'nodeId' : 'id']
      if (id === undefined) throw new StateError('The server sent something that has no id.')
      refuse({ kind, id }, sectionOf(id))
      return []
    })
  const readSettings = (settings: unknown) => {
    const parsed = TunnelSettings.safeParse(settings)
    if (parsed.success) return parsed.data
    if (!held) throw new StateError(UNKNOWN_SETTINGS)
    refuse({ kind: 'edge' }, 'settings')
    return held.settings
  }
  const { settings, peers, routes, ports, certificates } = sections
  const sifted = {
    settings: settings === undefined ? undefined : readSettings(settings),
    peers: sift(peers, Peer, 'node', peersSectionOf),
    routes: sift(routes, Route, 'service', routesSectionOf),
    ports: sift(ports, PortRoute, 'service', portsSectionOf),
    certificates: sift(certificates, EdgeCertificate, 'certificate', (id) => `certificate:${id}`),
  }
  return { answer: { revision, hashes, sections: sifted }, problems }
}

type Kind = Exclude<Problem['scope']['kind'], 'edge'>

const UNKNOWN_STATE = "This edge doesn't understand the server's configuration. Update the edge."
const UNKNOWN = "This edge doesn't understand the server's description of it. Update the edge."
const UNKNOWN_SETTINGS =
  "This edge doesn't understand the server's description of the tunnel. Update the edge."
