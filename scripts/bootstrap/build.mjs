import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, say, step } from './step.mjs'

/** Part of every bundle. */
const OWN = ['packages', 'scripts/lib/bundle.ts', 'package-lock.json']

/** What to build, from which sources, and the file whose presence shows that it was built. */
const BUILDS = [
  {
    name: 'console',
    from: ['apps/console', 'packages/contract', 'packages/net', 'package-lock.json'],
    result: 'apps/console/dist/index.html',
    args: ['node_modules/vite/bin/vite.js', 'build', 'apps/console', '--logLevel', 'warn'],
  },
  {
    name: 'agent',
    from: [...OWN, 'apps/agent'],
    result: 'apps/agent/dist/postern.mjs',
    args: ['apps/agent/build.ts'],
  },
  {
    name: 'server',
    from: [...OWN, 'apps/server', 'docs', 'TERMS.md', 'SECURITY.md', 'apps/console/src/styles'],
    result: 'apps/server/dist/server.mjs',
    args: ['apps/server/build.ts'],
  },
  {
    name: 'edge',
    from: [...OWN, 'apps/edge'],
    result: 'apps/edge/dist/edge.mjs',
    args: ['apps/edge/build.ts'],
  },
  {
    name: 'starter',
    from: [...OWN, 'scripts', 'apps/server/src'],
    result: 'scripts/dist/start.mjs',
    args: ['scripts/build.ts'],
  },
]

const NOT_A_SOURCE = /^(dist|node_modules)$|\.test\.tsx?$/

/** All files below a path, in the same order on every machine. */
function filesBelow(root, path) {
  if (statSync(join(root, path)).isFile()) return [path]
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => !NOT_A_SOURCE.test(entry.name) && (entry.isDirectory() || entry.isFile()))
    .flatMap((entry) =>
      entry.isFile() ? [`${path}/${entry.name}`] : filesBelow(root, `${path}/${entry.name}`),
    )
    .sort()
}

/** A hash over names and contents of all sources below the given paths. */
export function hashOf(root, paths) {
  const hash = createHash('sha256')
  for (const file of paths.flatMap((path) => filesBelow(root, path)))
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  return hash.digest('hex')
}

export async function buildWhatIsStale() {
  for (const build of BUILDS) {
    const hash = hashOf(ROOT, build.from)
    const stamp = join(ROOT, '.postern', `${build.name}.stamp`)
    const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
    if (built === hash && existsSync(join(ROOT, build.result))) continue
    say(`Building the ${build.name} …`)
    // Vitest sets `test`, which would build React's development version.
    const options = { seconds: 120, env: { NODE_ENV: 'production' } }
    await step(`Building the ${build.name}`, join(ROOT, 'node_modules/.bin/node'), build.args, options)
    writeFileSync(stamp, hash)
  }
}
