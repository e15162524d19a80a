import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import type { Authority } from '../../certificates/authority.ts'
import { type IssuedCertificate, isDue } from '../../certificates/issue.ts'
import { INSTALLATION_CERTIFICATE } from '../../certificates/store.ts'
import type { EdgeRow } from '../../db/schema.ts'

/**
 * What edges that do not serve the console show where no name is known, instead of the installation's certificate, whose
 * key would let them be the console.
 */
export interface OwnLeaves {
  /** @returns null for an edge that serves the console */
  find(edge: Pick<EdgeRow, 'id' | 'number' | 'is_console'>): Promise<EdgeCertificate | null>
}

interface Parts {
  authority: Pick<Authority, 'certificate' | 'issue'>
  clock(): number
}

/** In memory: a server that starts again makes others. Nobody can rely on their name, which is no real one. */
export function createOwnLeaves({ authority, clock }: Parts): OwnLeaves {
  const leaves = new Map<number, { root: string; issued: IssuedCertificate }>()
  return {
    async find({ id, number, is_console }) {
      if (is_console === 1) return null
      let leaf = leaves.get(id)
      if (!leaf || leaf.root !== authority.certificate || isOver(leaf.issued, clock())) {
        leaf = {
          root: authority.certificate,
          issued: await authority.issue([`edge-${number}.postern.internal`]),
        }
        leaves.set(id, leaf)
      }
      const { certificate: chain, privateKey } = leaf.issued
      return { id: INSTALLATION_CERTIFICATE, domains: [], chain, privateKey }
    },
  }
}

function isOver({ notBefore, notAfter }: IssuedCertificate, now: number): boolean {
  return isDue({ not_before: notBefore.toISOString(), not_after: notAfter.toISOString() }, now)
}
