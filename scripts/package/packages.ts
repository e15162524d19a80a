import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../lib/environment.ts'
import { fillAgentPackage } from './agent-package.ts'
import { type DebOptions, writeDeb } from './deb.ts'
import { fillHaproxyPackage } from './haproxy-package.ts'
import { copyOwnNode, fetchRuntime } from './runtimes.ts'
import { fillServerPackage } from './server-package.ts'
import { compressForHosts, writeSingleFile } from './single-file.ts'

interface Options extends Pick<DebOptions, 'version' | 'epoch' | 'compression'> {
  environment: Environment
}

/**
 * Builds everything that people install into a directory, which is emptied first.
 * @returns the files
 */
export async function makePackages(target: string, { environment, ...own }: Options): Promise<string[]> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  const node = join(target, 'node')
  await copyOwnNode(node)
  const arm64 = await fetchRuntime('arm64', environment)
  const singles = {
    x64: join(target, 'postern-linux-x64'),
    arm64: join(target, 'postern-linux-arm64'),
  }
  await writeSingleFile(node, 'x64', singles.x64)
  await writeSingleFile(arm64.program, 'arm64', singles.arm64)
  const served = await Promise.all(Object.values(singles).map(compressForHosts))
  const parts = { version: own.version, node, nodeLicence: arm64.licence, singles: served.flat() }
  const debs = [
    await writeDeb(target, {
      ...own,
      name: 'server',
      fill: (stage) => fillServerPackage(stage, parts),
    }),
    await writeDeb(target, { ...own, name: 'agent', fill: fillAgentPackage }),
    await writeDeb(target, { ...own, name: 'haproxy', fill: fillHaproxyPackage }),
  ]
  rmSync(node)
  return [...debs, ...Object.values(singles), ...served.flat()]
}
