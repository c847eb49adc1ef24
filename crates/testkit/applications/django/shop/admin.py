from django.contrib import admin

from .models import Category, Product


@admin.register(Category)
class CategoryAdmin(admin.ModelAdmin):
    pass


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    list_display = ["name", "price", "in_stock"]
    list_editable = ["in_stock"]
    list_filter = ["in_stock", "categories"]
    search_fields = ["name"]
    filter_horizontal = ["categories"]
    autocomplete_fields = ["maker"]
