import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { baseImage } from './base-image.ts'
import { buildah } from './store.ts'

export interface Build {
  dockerfile: string
  context: string
  tag: string
  target?: string
}

/**
 * Builds an image as Docker would. This machine's access to npm is passed to the build and stays in no layer.
 * @returns the image's id
 */
export async function buildImage({ dockerfile, context, tag, target }: Build): Promise<string> {
  await baseImage()
  await forgetOldLayers()
  const scratch = mkdtempSync(join(tmpdir(), 'pt-build-'))
  try {
    const lent = lendNpm(scratch)
    const how = ['--isolation=chroot', '--network=host', '--layers', '--pull-never', '--format=docker']
    const what = [`--file=${dockerfile}`, `--tag=${tag}`, `--iidfile=${scratch}/id`]
    const only = target ? [`--target=${target}`] : []
    await buildah('build', ...how, ...lent, ...what, ...only, context)
    return readFileSync(`${scratch}/id`, 'utf8')
      .trim()
      .replace(/^sha256:/, '')
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** Several builds share it, so that common layers make the next one fast. */
const MOST_LAYERS = 90

async function forgetOldLayers(): Promise<void> {
  const layers = (await buildah('images', '--all', '--quiet')).trim().split('\n')
  if (layers.length > MOST_LAYERS) await buildah('rmi', '--prune', '--force')
}

/** The secret `npmrc` of a Dockerfile, and the certificates that this machine trusts. */
function lendNpm(scratch: string): string[] {
  const own = join(homedir(), '.npmrc')
  const certificates = '/etc/ssl/certs'
  const trusted = process.env.NODE_EXTRA_CA_CERTS
  const text = existsSync(own) ? readFileSync(own, 'utf8') : ''
  writeFileSync(`${scratch}/npmrc`, trusted?.startsWith(certificates) ? `${text}\ncafile=${trusted}\n` : text)
  return [
    `--secret=id=npmrc,src=${scratch}/npmrc`,
    ...(existsSync(certificates) ? [`--volume=${certificates}:${certificates}:ro`] : []),
  ]
}

/** The image's metadata: everything but the files. */
export async function inspectImage(image: string): Promise<ImageConfig> {
  const text = await buildah('inspect', '--type', 'image', image)
  // buildah's own format; the parts that a test needs are checked below.
  const { OCIv1 } = JSON.parse(text) as { OCIv1: { config: ImageConfig } }
  return { ...OCIv1.config, text }
}

export interface ImageConfig {
  User?: string
  Env?: string[]
  Entrypoint?: string[]
  Cmd?: string[]
  WorkingDir?: string
  StopSignal?: string
  /** All metadata of an image. */
  text: string
}
