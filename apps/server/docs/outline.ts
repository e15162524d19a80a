/** What the sidebar shows: a page appears as soon as its file is there. */
export interface OutlineGroup {
  title: string
  pages: readonly OutlinePage[]
}

export interface OutlinePage {
  /** The page's address below `/docs/`, which is its file's name. */
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
      page('coming-from-another-product', 'Coming from another product'),
    ],
  },
  {
    title: 'Install',
    pages: [
      page('packages', 'Packages'),
      page('docker', 'Docker'),
      page('kubernetes', 'Kubernetes'),
      page('home-assistant', 'Home Assistant'),
      page('settings', 'Settings'),
    ],
  },
  {
    title: 'Publish',
    pages: [
      page('certificates', 'Domains and certificates'),
      page('sign-in', 'Sign-in'),
      page('tcp-and-udp', 'TCP and UDP'),
      page('gateways', 'Gateways'),
      page('domain-or-path', 'A domain or a path'),
      page('behind-the-proxy', 'Behind the proxy'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('cli', 'The postern command'),
      page('backup-and-restore', 'Backup and restore'),
      page('upgrade', 'Upgrade'),
      page('common-questions', 'Common questions'),
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
