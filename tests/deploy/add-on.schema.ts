/**
 * What Home Assistant's Supervisor accepts as an add-on's config.yaml and translations, in our own schema: its names,
 * types and closed lists, and nothing else.
 */
const text = { type: 'string', minLength: 1 }
const texts = { type: 'array', items: text }
const flag = { type: 'boolean' }
const port = { type: 'integer', minimum: 1, maximum: 65535 }
const oneOf = (...words: string[]) => ({ enum: words })
const listOf = (items: object) => ({ type: 'array', items, minItems: 1, uniqueItems: true })
const recordOf = (value: object) => ({ type: 'object', additionalProperties: value })
const named = (words: string, schema: object) =>
  Object.fromEntries(words.split(' ').map((name) => [name, schema]))

/** How a field of the add-on's options is described, like `int(1,65535)?`. */
const range = '(\\([0-9.]*,[0-9.]*\\))?'
const OPTION = `^(bool|email|url|port|device(\\(subsystem=[a-z]+\\))?|(str|password|int|float)${range}|match\\(.*\\)|list\\(.+\\))\\??$`

const CAPABILITIES =
  'BPF CHECKPOINT_RESTORE DAC_READ_SEARCH IPC_LOCK NET_ADMIN NET_RAW PERFMON SYS_ADMIN SYS_MODULE SYS_NICE SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME'

export const CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'version', 'slug', 'description', 'arch'],
  properties: {
    ...named('name description panel_title panel_icon ingress_entry image', text),
    ...named('backup_pre backup_post restore_pre restore_post', text),
    ...named('advanced audio auth_api devicetree docker_api full_access gpio hassio_api', flag),
    ...named('homeassistant_api host_dbus host_ipc host_network host_pid host_uts ingress', flag),
    ...named('ingress_stream init journald kernel_modules legacy panel_admin realtime stdin', flag),
    ...named('apparmor tmpfs uart udev usb video', flag),
    ...named('breaking_versions backup_exclude discovery', texts),
    version: { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    homeassistant: { type: 'string', pattern: '^[0-9]+\\.[0-9]+' },
    slug: { type: 'string', pattern: '^[-_.A-Za-z0-9]+$' },
    arch: listOf(oneOf('aarch64', 'amd64', 'armhf', 'armv7', 'i386')),
    machine: listOf({ type: 'string', pattern: '^!?[a-z0-9-]+$' }),
    url: { type: 'string', pattern: '^https?://' },
    startup: oneOf('initialize', 'system', 'services', 'application', 'once'),
    boot: oneOf('auto', 'manual', 'manual_only'),
    stage: oneOf('stable', 'experimental', 'deprecated'),
    backup: oneOf('hot', 'cold'),
    hassio_role: oneOf('default', 'homeassistant', 'backup', 'manager', 'admin'),
    timeout: { type: 'integer', minimum: 10, maximum: 300 },
    ingress_port: { type: 'integer', minimum: 0, maximum: 65535 },
    watchdog: {
      type: 'string',
      pattern: '^(https?|\\[PROTO:\\w+\\]|tcp)://\\[HOST\\]:(\\[PORT:\\d+\\]|\\d+)',
    },
    webui: { type: 'string', pattern: '^(https?|\\[PROTO:\\w+\\])://\\[HOST\\]:\\[PORT:\\d+\\]' },
    ports: { type: 'object', patternProperties: { '^\\d+/(tcp|udp)$': port }, additionalProperties: false },
    ports_description: recordOf(text),
    // Paths alone; a suffix `:rwm` is obsolete.
    devices: { type: 'array', items: { type: 'string', pattern: '^/dev/[^:]+$' } },
    privileged: { ...listOf(oneOf(...CAPABILITIES.split(' '))) },
    environment: recordOf({ type: 'string' }),
    services: { type: 'array', items: { type: 'string', pattern: '^(mqtt|mysql):(provide|want|need)$' } },
    map: {
      type: 'array',
      items: {
        type: 'string',
        pattern:
          '^(data|config|ssl|addons|backup|share|media|homeassistant_config|all_addon_configs|addon_config)(:(rw|ro))?$',
      },
    },
    options: { type: 'object' },
    schema: { oneOf: [{ const: false }, recordOf({ $ref: '#/$defs/option' })] },
    ulimits: recordOf({ type: 'integer' }),
  },
  $defs: {
    option: {
      oneOf: [
        { type: 'string', pattern: OPTION },
        { type: 'array', minItems: 1, maxItems: 1, items: { $ref: '#/$defs/option' } },
        recordOf({ $ref: '#/$defs/option' }),
      ],
    },
  },
}

/** The Supervisor's defaults; its linter rejects repeating them. */
export const DEFAULTS: Record<string, unknown> = {
  advanced: false,
  apparmor: true,
  boot: 'auto',
  full_access: false,
  hassio_api: false,
  homeassistant_api: false,
  host_network: false,
  init: true,
  stage: 'stable',
  startup: 'application',
  timeout: 10,
  tmpfs: false,
}

export const TRANSLATIONS_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['configuration'],
  properties: {
    configuration: recordOf({
      type: 'object',
      additionalProperties: false,
      required: ['name', 'description'],
      properties: { name: text, description: text },
    }),
    network: recordOf(text),
  },
}

export const REPOSITORY_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: text, maintainer: text, url: { type: 'string', pattern: '^https?://' } },
}
