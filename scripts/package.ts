import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readFlags } from '@postern/host/flags'
import { run } from '@postern/host/processes/exec'
import { runCommand } from './lib/command.ts'
import { type Environment, ROOT } from './lib/environment.ts'
import { readPackageVersion } from './lib/package-version.ts'
import { makePackages } from './package/packages.ts'
import { listSizes } from './package/sizes.ts'

/**
 * `npm run package`: writes the Debian packages and the agents with Node inside into `dist/`, and prints their sizes.
 */
async function packageAll(environment: Environment): Promise<number> {
  const version = readPackageVersion()
  const epoch = await readEpoch(environment)
  const made = await makePackages(join(ROOT, 'dist'), {
    version,
    epoch,
    compression: 'xz',
    environment,
  })
  const sizes = listSizes(made, version)
  for (const { file, size, limit } of sizes)
    process.stdout.write(
      `${size.toFixed(1).padStart(6)} MB  ${file}${size > limit ? `  more than ${limit} MB` : ''}\n`,
    )
  return sizes.every(({ size, limit }) => size <= limit) ? 0 : 1
}

/** The timestamp of the packages: as requested, or that of the last commit. */
async function readEpoch({ SOURCE_DATE_EPOCH: asked }: Environment): Promise<number> {
  if (asked) return Number(asked)
  const { code, stdout } = await run('git', ['-C', ROOT, 'log', '-1', '--format=%ct'])
  return code === 0 ? Number(stdout) : Math.floor(statSync(join(ROOT, 'package.json')).mtimeMs / 1000)
}

await runCommand((args) => {
  readFlags([], args)
  return packageAll(process.env)
})
