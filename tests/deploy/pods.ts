import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { ComposeService } from '@postern/testkit/containers/compose'
import { type Container, startContainer } from '@postern/testkit/containers/container'
import type { Namespace } from '@postern/testkit/lab/namespace'
import type { IConfigMap, IContainer, IPodSpec, ISecret, IVolume, IVolumeMount } from 'kubernetes-models/v1'
import type { Manifest } from './helm.ts'

export interface PodOptions {
  image: string
  namespace: Namespace
  /** Where its volumes are. */
  dir: string
  /** The release, with the secrets and config maps that the pod names. */
  manifests: readonly Manifest[]
  /** The file that the kubelet mounts there. */
  etc?: { 'resolv.conf'?: string }
}

/**
 * Starts a rendered pod as a kubelet would: users, capabilities, environment and volumes, all of one group. It
 * supports what our charts use, and refuses the rest.
 * @returns its containers by name
 */
export async function startPod(pod: IPodSpec, options: PodOptions): Promise<Map<string, Container>> {
  const { image, namespace, etc } = options
  emptyWhatIsOfOnePod(pod, options.dir)
  const mounts = layVolumes(pod, options)
  const start = (service: ComposeService) =>
    startContainer({ image, namespace, service, mounts, ...(etc && { etc }) })
  for (const each of pod.initContainers ?? []) {
    // Its program may already have ended.
    const container = await start({ ...serviceOf(pod, each), entrypoint: ['tini', '--', 'sleep', '600'] })
    const { code, stderr } = await container.exec(each.command ?? [])
    await container.stop()
    if (code !== 0) throw new Error(`${each.name}: ${stderr}`)
  }
  const started = new Map<string, Container>()
  for (const each of pod.containers) started.set(each.name, await start(serviceOf(pod, each)))
  return started
}

function emptyWhatIsOfOnePod(pod: IPodSpec, dir: string): void {
  for (const { name, emptyDir } of pod.volumes ?? [])
    if (emptyDir) rmSync(`${dir}/${name}`, { recursive: true, force: true })
}

/** The same as a service of a compose file. */
function serviceOf(pod: IPodSpec, container: IContainer): ComposeService {
  const { securityContext: own = {}, command, args, volumeMounts = [] } = container
  const common = pod.securityContext ?? {}
  const isDevice = (volume: string) => pod.volumes?.some((each) => each.name === volume && each.hostPath)
  const user = `${own.runAsUser ?? common.runAsUser}:${own.runAsGroup ?? common.runAsGroup ?? 0}`
  const check = container.readinessProbe?.exec?.command ?? container.livenessProbe?.exec?.command
  return {
    ...(command && { entrypoint: command }),
    ...(args && { command: args }),
    user,
    group_add: common.fsGroup === undefined ? [] : [common.fsGroup],
    environment: Object.fromEntries((container.env ?? []).map((each) => [each.name, readValue(each)])),
    volumes: volumeMounts
      .filter((mount) => !isDevice(mount.name))
      .map((mount) => `${placeOf(mount)}:${mount.mountPath}${mount.readOnly ? ':ro' : ''}`),
    devices: volumeMounts.filter((mount) => isDevice(mount.name)).map((mount) => mount.mountPath),
    cap_add: own.capabilities?.add ?? [],
    cap_drop: own.capabilities?.drop ?? [],
    read_only: own.readOnlyRootFilesystem ?? false,
    security_opt: own.allowPrivilegeEscalation === false ? ['no-new-privileges:true'] : [],
    sysctls: Object.fromEntries((common.sysctls ?? []).map(({ name, value }) => [name, value])),
    ...(check && { healthcheck: { test: ['CMD', ...check] } }),
    stop_grace_period: `${pod.terminationGracePeriodSeconds ?? 30}s`,
  }
}

function readValue({ name, value }: { name: string; value?: string | undefined }): string {
  if (value === undefined) throw new Error(`${name} comes from somewhere that a test does not have`)
  return value
}

/** Not filled from the image, unlike a Docker volume. */
const placeOf = ({ name, subPath }: IVolumeMount) => `/volumes/${name}${subPath ? `/${subPath}` : ''}`

/** A directory for each volume and claim, as the pod's group may use it. Existing contents stay. */
function layVolumes(pod: IPodSpec, { dir, manifests }: PodOptions): Record<string, string> {
  const group = pod.securityContext?.fsGroup ?? 0
  const declared = new Map((pod.volumes ?? []).map((volume) => [volume.name, volume]))
  const mounts = [...(pod.initContainers ?? []), ...pod.containers].flatMap((each) => each.volumeMounts ?? [])
  for (const name of new Set(mounts.map((mount) => mount.name)))
    layVolume(`${dir}/${name}`, group, declared.get(name), manifests)
  return Object.fromEntries(
    mounts.map((mount) => [
      placeOf(mount),
      `${dir}/${mount.name}${mount.subPath ? `/${mount.subPath}` : ''}`,
    ]),
  )
}

/** An emptyDir is world-writable, a disk belongs to root and its group; both pass their group on. */
function layVolume(
  path: string,
  group: number,
  volume: IVolume | undefined,
  manifests: readonly Manifest[],
): void {
  mkdirSync(path, { recursive: true })
  chownSync(path, 0, group)
  chmodSync(path, volume?.emptyDir ? 0o2777 : 0o2775)
  for (const [name, text] of filesOf(volume, manifests)) {
    const file = `${path}/${name}`
    writeFileSync(file, text)
    chownSync(file, 0, group)
    chmodSync(file, volume?.secret?.defaultMode ?? 0o644)
  }
}

function filesOf(volume: IVolume | undefined, manifests: readonly Manifest[]): [string, string][] {
  const find = <M>(kind: string, name: string | undefined) =>
    manifests.find((each) => each.kind === kind && each.metadata.name === name) as M | undefined
  const data = volume?.secret
    ? find<ISecret>('Secret', volume.secret.secretName)?.data
    : find<IConfigMap>('ConfigMap', volume?.configMap?.name)?.data
  const decode = (text: string) => (volume?.secret ? Buffer.from(text, 'base64').toString() : text)
  const items = volume?.secret?.items ?? Object.keys(data ?? {}).map((key) => ({ key, path: key }))
  return items.map(({ key, path }) => [path, decode(data?.[key] ?? '')])
}
