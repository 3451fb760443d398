// Runs before the first paint, so that a dark console never flashes white. Mantine stores the color scheme under this name.
const chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
document.documentElement.dataset.mantineColorScheme = chosen === 'auto' ? system : chosen
