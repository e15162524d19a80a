import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '@postern/testkit/processes/exec'
import type { Manifest } from './helm.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Below the repository, where the compiler finds the types of Kubernetes. */
const SCRATCH = join(ROOT, '.postern')

interface Model {
  validate(): void
}

/**
 * What Kubernetes would refuse in these manifests, one fault per line. The schemas of its API find wrong types and
 * formats and missing fields; unknown fields, which the schemas accept, are found with the types of the same API.
 */
export async function findFaults(manifests: readonly Manifest[]): Promise<string[]> {
  const wrong = await Promise.all(manifests.map(findWrongValue))
  return [...wrong.filter((line) => line !== undefined), ...(await findUnknownFields(manifests))]
}

async function findWrongValue(manifest: Manifest): Promise<string | undefined> {
  const models: Record<string, new (data: Manifest) => Model> = await import(moduleOf(manifest))
  const Model = models[manifest.kind]
  if (!Model) return `${manifest.apiVersion} has no ${manifest.kind}`
  try {
    new Model(manifest).validate()
  } catch (error) {
    return `${manifest.kind}: ${error instanceof Error ? error.message : error}`
  }
}

async function findUnknownFields(manifests: readonly Manifest[]): Promise<string[]> {
  mkdirSync(SCRATCH, { recursive: true })
  const dir = mkdtempSync(join(SCRATCH, 'manifests-'))
  try {
    writeFileSync(`${dir}/package.json`, '{"type":"module"}')
    const files = manifests.map((manifest, index) => {
      const type = `import type { I${manifest.kind} } from '${moduleOf(manifest)}'`
      const file = `${dir}/${index}-${manifest.kind}.ts`
      writeFileSync(
        file,
        `${type}\nexport const it: I${manifest.kind} = ${JSON.stringify(manifest, null, 1)}\n`,
      )
      return file
    })
    const how = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
    ]
    const { code, stdout } = await run([join(ROOT, 'node_modules/.bin/tsc'), ...how, ...files], {
      timeoutMs: 120_000,
    })
    const lines = stdout.split('\n').filter((line) => line.includes('error TS'))
    return code === 0 || lines.length > 0 ? lines.map((line) => line.replace(/^.*?error /, '')) : [stdout]
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** For a core object like `v1`, or one with a group like `apps/v1`. */
function moduleOf({ apiVersion }: Manifest): string {
  return `kubernetes-models/${apiVersion}`
}
