import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings/settings'
import { ROOT } from '../lib/environment.ts'
import { renderUnit, SETTINGS_FILE, UNIT_FILES } from '../lib/programs/systemd.ts'
import { readTemplate, type Stage } from './deb.ts'

/** Where the package has what is elsewhere the root of the repository. */
const PROGRAM_DIR = '/usr/lib/postern'

/** The programs. Source maps would double the size, and only `--enable-source-maps` reads them. */
const PROGRAMS = [
  'apps/server/dist/server.mjs',
  'apps/server/dist/rotate-key.mjs',
  'apps/server/dist/new-password.mjs',
  'apps/server/dist/verify-history.mjs',
  'apps/edge/dist/edge.mjs',
  'apps/edge/dist/holder.mjs',
  'apps/agent/dist/postern.mjs',
  'scripts/dist/prepare.mjs',
  'scripts/dist/haproxy.mjs',
  'scripts/dist/postern-server.mjs',
  'scripts/dist/postern-edge.mjs',
]
/** The last: for edges on other machines. */
const FOLDERS = ['apps/console/dist', 'apps/server/dist/docs', 'deploy/systemd']

export interface ServerParts {
  version: string
  /** Node for this package's processor. */
  node: string
  nodeLicence: string
  /** The agents with Node inside that the server hands out, and their checksums. */
  singles: readonly string[]
}

/** Fills the package with server and edge. */
export function fillServerPackage(stage: Stage, { version, node, nodeLicence, singles }: ServerParts): void {
  const inside = (path: string) => join(PROGRAM_DIR, path)
  for (const path of PROGRAMS) stage.copy(join(ROOT, path), inside(path))
  for (const path of FOLDERS) stage.copy(join(ROOT, path), inside(path))
  for (const file of singles) stage.copy(file, inside(`dist/${file.slice(file.lastIndexOf('/') + 1)}`))
  stage.copy(node, inside('node_modules/.bin/node'), 0o755)
  // The programs read their version there.
  stage.put(
    inside('package.json'),
    `${JSON.stringify({ name: 'postern', version, type: 'module' }, null, 2)}\n`,
  )
  stage.put('usr/bin/postern-server', readTemplate('server', 'postern-server'), 0o755)
  stage.put(SETTINGS_FILE, readTemplate('server', 'environment'), 0o600)
  for (const name of UNIT_FILES) stage.put(`usr/lib/systemd/system/${name}`, renderPackageUnit(name))
  stage.copy(join(ROOT, 'deploy/grafana'), 'usr/share/doc/postern-server/grafana')
  const licence = gzipSync(readFileSync(nodeLicence), { level: 9 })
  stage.put('usr/share/doc/postern-server/licenses-of-node.gz', licence)
}

/** The units of deploy/systemd, for the place where the package keeps everything. */
export function renderPackageUnit(name: string): string {
  const dataDir = parseSettings({}).POSTERN_DATA_DIR
  return renderUnit(readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8'), {
    NODE: join(PROGRAM_DIR, 'node_modules/.bin/node'),
    ROOT: PROGRAM_DIR,
    DATA_DIR: dataDir,
    PROGRAM: installationPaths(dataDir).programDir,
    ENVIRONMENT: SETTINGS_FILE,
  })
}
