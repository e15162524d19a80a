import type { CertificateProblem, OrderStep } from '@postern/contract/certificates'
import type { Domain } from '@postern/contract/domains'
import type { Page as ListPage } from '@postern/contract/lists'
import { writeRows } from '@postern/testkit/rows'
import type { Page } from 'playwright'
import { updateStated } from '../../apps/server/src/changes/change.ts'
import { openDatabase } from '../../apps/server/src/db/open.ts'
import type { Site } from './harness.ts'

const DAY = 86_400_000

/** The state of the certificate of a domain that uses a public authority, and the order for the next one. */
export interface Standing {
  /** Days until the authority's certificate expires; without it there is only a self-signed one. */
  endsIn?: number
  problem?: Partial<CertificateProblem>
}

/** Puts a domain into the state that an authority, which this test lacks, would leave it in. */
export async function putCertificate(site: Site, domainId: number, standing: Standing): Promise<void> {
  const db = openDatabase(site.paths.database)
  const { endsIn, problem } = standing
  const now = Date.now()
  const at = new Date(now).toISOString()
  try {
    await writeRows(db, async (tx, revision) => {
      const certificates = tx.selectFrom('certificates').select('id').where('domain_id', '=', domainId)
      const { id } = await certificates.executeTakeFirstOrThrow()
      if (endsIn !== undefined) {
        const [from, to] = [now - (90 - endsIn) * DAY, now + endsIn * DAY]
        await updateStated(tx, 'certificates', id, revision, {
          kind: 'certbot',
          issuer: 'R11',
          not_before: new Date(from).toISOString(),
          not_after: new Date(to).toISOString(),
        })
      }
      await updateStated(tx, 'domains', domainId, revision, { ssl: 'certbot', skip_validation: 0 })
      await tx.deleteFrom('orders').where('domain_id', '=', domainId).execute()
      const full = problem && { code: 'internal', detail: '', found: [], expected: [], at, ...problem }
      await tx
        .insertInto('orders')
        .values({
          domain_id: domainId,
          step: null,
          // A week from now, so the server does not work on it meanwhile.
          due_at: now + 7 * DAY,
          failures: 1,
          problem: full ? JSON.stringify(full) : null,
          created_at: at,
          updated_at: at,
        })
        .execute()
    })
  } finally {
    await db.destroy()
  }
}

/** Shows a domain whose order is at a step that the server itself would soon leave. */
export async function showStep(page: Page, name: string, step: OrderStep): Promise<void> {
  await page.route('**/api/domains?*', async (route) => {
    const response = await route.fetch()
    // The contract's type for this answer.
    const list = (await response.json()) as ListPage<Domain>
    for (const { domain, certificate } of list.data)
      if (domain === name)
        Object.assign(certificate, {
          ...{ status: 'pending', kind: 'self-signed', step, problem: null },
          // The order waits for nothing else.
          nextTryAt: null,
        })
    await route.fulfill({ response, json: list })
  })
}
