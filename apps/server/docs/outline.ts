/** The content of the sidebar: a page appears as soon as its file exists. */
export interface OutlineGroup {
  title: string
  pages: readonly OutlinePage[]
}

export interface OutlinePage {
  /** The page's address below `/docs/`, and its file's name. */
  name: string
  /** Shorter than the page's own. */
  title: string
}

const page = (name: string, title: string): OutlinePage => ({ name, title })

export const OUTLINE: readonly OutlineGroup[] = [
  {
    title: 'Start',
    pages: [
      page('quick-start', 'Quick start'),
      page('how-it-works', 'How it works'),
      page('coming-from-another-product', 'Coming from another product'),
    ],
  },
  {
    title: 'Install',
    pages: [
      page('from-a-clone', 'From a clone'),
      page('packages', 'Packages'),
      page('docker', 'Docker'),
      page('kubernetes', 'Kubernetes'),
      page('home-assistant', 'Home Assistant add-on'),
      page('settings', 'Settings'),
    ],
  },
  {
    title: 'Network',
    pages: [
      page('network/dns', 'DNS, step by step'),
      page('network/firewalls', 'Firewalls'),
      page('network/home-router', 'Behind a home router'),
      page('network/cloudflare', 'Cloudflare in front'),
      page('network/ip-lists', 'Allow and block addresses'),
    ],
  },
  {
    title: 'Publish',
    pages: [
      page('certificates', 'Domains and certificates'),
      page('sign-in', 'Sign-in'),
      page('tcp-and-udp', 'TCP and UDP'),
      page('gateways', 'Gateways'),
      page('services-that-end', 'Services that end'),
      page('domain-or-path', 'A domain or a path'),
      page('behind-the-proxy', 'Behind the proxy'),
    ],
  },
  {
    title: 'Recipes',
    pages: [
      page('recipes/jellyfin', 'Jellyfin'),
      page('recipes/nextcloud', 'Nextcloud'),
      page('recipes/immich', 'Immich'),
      page('recipes/home-assistant', 'Home Assistant'),
      page('recipes/game-server', 'A game server'),
      page('recipes/ssh', 'SSH'),
      page('recipes/git', 'Git'),
      page('recipes/database', 'A database'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('people', 'People'),
      page('accounts', 'Accounts and passwords'),
      page('second-factors', 'Second factors and passkeys'),
      page('sign-in-to-the-console', 'Sign in by a provider'),
      page('palette', 'Search and commands'),
      page('many-at-once', 'Many at once'),
      page('cli', 'The postern command'),
      page('command', 'Work from a terminal'),
      page('programs', 'API tokens'),
      page('api', 'API'),
      page('history', 'History'),
      page('requests', 'Requests'),
      page('traffic', 'Traffic'),
      page('backup-and-restore', 'Backup and restore'),
      page('alerts', 'Alerts'),
      page('monitoring', 'Monitoring'),
      page('programs-and-files', 'Programs, files and ports'),
      page('several-edges', 'Several edges'),
      page('upgrade', 'Upgrade'),
      page('common-questions', 'Common questions'),
      page('why', 'Why?'),
      page('troubleshooting', 'Troubleshooting'),
      page('security', 'Security model'),
    ],
  },
  { title: 'Contact', pages: [page('contact', 'Contact'), page('terms', 'Terms of service')] },
]

/** Only the pages of the outline that exist, and no group without one. */
export function outlineOf(exists: (name: string) => boolean): OutlineGroup[] {
  return OUTLINE.map(({ title, pages }) => ({
    title,
    pages: pages.filter(({ name }) => exists(name)),
  })).filter(({ pages }) => pages.length > 0)
}
