// SPDX-License-Identifier: GPL-3.0-or-later
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The server answers everything itself: files have names that follow from their content, and nothing
// is inlined, so that the content policy can forbid inline scripts and styles.
export default defineConfig({
  base: '/',
  plugins: [svelte()],
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
});
