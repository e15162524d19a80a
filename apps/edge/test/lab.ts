import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExec, type Exec } from '@postern/host/processes/exec'
import { addNamespace, beginLab, type Namespace } from '@postern/testkit/lab/namespace'

/** A machine for the edge's own parts, with a directory and an interface name that nobody else uses. */
export interface Lab extends Namespace {
  interface: string
  dir: string
  /** Runs programs as the edge does. */
  exec: Exec
  close(): Promise<void>
}

export async function startLab(): Promise<Lab> {
  const id = await beginLab()
  const namespace = await addNamespace(`${id}-edge`)
  const dir = mkdtempSync(join(tmpdir(), `${id}-`))
  return {
    ...namespace,
    interface: `pe${id.slice(-10)}`,
    dir,
    exec: createExec(namespace.argv()),
    async close() {
      await namespace.remove()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
