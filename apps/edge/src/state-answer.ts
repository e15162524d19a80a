import { EdgeCertificate, Peer, Route, StateAnswer } from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import * as z from 'zod/mini'

export interface ParsedAnswer {
  answer: StateAnswer
  /** What was left out, because it is not of the form that the contract says. */
  problems: Problem[]
}

/** A row that the contract refuses, with the id by which it can be named. */
const Outline = z.object({
  hashes: z.record(z.string(), z.string()),
  sections: z.object({
    peers: z.optional(z.array(z.unknown())),
    routes: z.optional(z.array(z.unknown())),
    certificates: z.array(z.unknown()),
  }),
})
const Named = z.object({ id: z.optional(z.number()), nodeId: z.optional(z.number()) })

/**
 * One row that is not as the contract says never takes the others with it: it is left out as a problem of its
 * own. The hash of its section is then not kept, so that the section is asked for again.
 * @throws ZodError when the answer as a whole is not one
 */
export function parseStateAnswer(body: unknown): ParsedAnswer {
  const whole = StateAnswer.safeParse(body)
  if (whole.success) return { answer: whole.data, problems: [] }
  const outline = Outline.parse(body)
  const problems: Problem[] = []
  const hashes = { ...outline.hashes }
  const sift = (rows: unknown[] | undefined, schema: z.ZodMiniType, section: string, kind: Kind) =>
    rows?.filter((row) => {
      if (schema.safeParse(row).success) return true
      const { id, nodeId } = Named.safeParse(row).data ?? {}
      hashes[section] = ''
      problems.push(problemOf(kind, kind === 'node' ? nodeId : id))
      return false
    })
  const { sections } = outline
  const certificates = sections.certificates.filter((row) => EdgeCertificate.safeParse(row).success)
  for (const row of sections.certificates) {
    if (certificates.includes(row)) continue
    const { id } = Named.safeParse(row).data ?? {}
    problems.push(problemOf('certificate', id))
    delete hashes[`certificate:${id}`]
  }
  const sifted = {
    // The body was an object, or the outline had thrown.
    ...(body as object),
    hashes,
    sections: {
      // As above: the outline holds an object here.
      ...(body as { sections: object }).sections,
      peers: sift(sections.peers, Peer, 'peers', 'node'),
      routes: sift(sections.routes, Route, 'routes', 'service'),
      certificates,
    },
  }
  return { answer: StateAnswer.parse(sifted), problems }
}

type Kind = 'node' | 'service' | 'certificate'

function problemOf(kind: Kind, id: number | undefined): Problem {
  const message = 'The server describes it in a way that this edge does not know.'
  return { scope: id === undefined ? { kind: 'edge' } : { kind, id }, message }
}
