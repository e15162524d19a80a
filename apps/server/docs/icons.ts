const icon = (name: string, paths: string) =>
  `<svg class="ic lucide ${name}" viewBox="0 0 24 24" aria-hidden="true">${paths}</svg>`

/** The console's icons: Lucide, and the product's mark. */
export const ICONS = {
  menu: icon('menu', '<path d="M4 6h16M4 12h16M4 18h16"/>'),
  search: icon('search', '<circle cx="11" cy="11" r="8"/><path d="m21 21-4.3-4.3"/>'),
  auto: icon('auto', '<rect width="20" height="14" x="2" y="3" rx="2"/><path d="M8 21h8M12 17v4"/>'),
  light: icon(
    'light',
    '<circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2M4.93 4.93l1.41 1.41M17.66 17.66l1.41 1.41M2 12h2M20 12h2M6.34 17.66l-1.41 1.41M19.07 4.93l-1.41 1.41"/>',
  ),
  dark: icon(
    'dark',
    '<path d="M20.985 12.486a9 9 0 1 1-9.473-9.472c.405-.022.617.46.402.803a6 6 0 0 0 8.268 8.268c.344-.215.825-.004.803.401"/>',
  ),
  glyph:
    '<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true"><path d="M3.5 21.25V11.5a8.5 8.5 0 0 1 17 0v9.75M1.5 21.25h4M18.5 21.25h4"/><path class="gap" d="M13.75 7.5c1.6.7 2.75 2.25 2.75 4.1v9.65h-2.75z"/><path class="leaf" d="M7.25 21.25V11.6c0-2.2 1.5-4.05 3.5-4.6l3 1.75v14z"/></svg>',
} as const
